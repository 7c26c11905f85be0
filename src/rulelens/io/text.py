"""The format of rules as text; the language itself is in `rulelens.language`."""

from rulelens.io.format import FORMATS, Format
from rulelens.language.parser import parse_text
from rulelens.language.printer import print_rules

FORMATS.add("text", Format(parse_text, print_rules, (".rules",)))
