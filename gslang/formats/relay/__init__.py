"""Relay's text format: reading and writing of the static dataflow subset (see `read_relay`)."""

from gslang.formats.relay.problems import UnsupportedConstruct
from gslang.formats.relay.reader import read_relay
from gslang.formats.relay.writer import write_relay

__all__ = ["UnsupportedConstruct", "read_relay", "write_relay"]
