#!/usr/bin/env bash
# h2 4.3.0 (Python; Debian's python3-h2 4.3.0-2), a client of HTTP/2 that allows larger frames (SETTINGS_MAX_FRAME_SIZE), and a server that
# makes use of it at once.
#
# The guess: once the server has acknowledged the setting (RFC 9113, section 6.5.3), it may send a frame of that size, also right behind the
# acknowledgement.
#
# What it does: the limit of a whole call of receive_data is the one from before the call. If one read of the socket returns the
# acknowledgement and the large frame together, the client raises FrameTooLargeError; if they come in two, it works. Seen, for 50,000
# allowed and a frame of 20,000 bytes:
#   acknowledgement and frame in two reads: DataReceived
#   acknowledgement and frame in one read: FrameTooLargeError Received overlong frame: length 20000, max 16384
#
# Needs Python 3.9 or later, and apt with Debian sid. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq python3-h2=4.3.0-2 python3-hpack python3-hyperframe
for package in *.deb; do
  dpkg -x "$package" .
done
cat > finding.py <<'PYTHON'
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.exceptions import FrameTooLargeError
from h2.settings import SettingCodes

REQUEST = [(':method', 'GET'), (':scheme', 'http'), (':path', '/'), (':authority', 'finding')]


def received(reads):
    client, server = H2Connection(), H2Connection(H2Configuration(client_side=False))
    client.initiate_connection()
    client.update_settings({SettingCodes.MAX_FRAME_SIZE: 50_000})
    client.send_headers(1, REQUEST, end_stream=True)
    server.initiate_connection()
    server.receive_data(client.data_to_send())
    first = server.data_to_send()  # SETTINGS, and the acknowledgements
    server.send_headers(1, [(':status', '200')])
    server.send_data(1, b'x' * 20_000)
    second = server.data_to_send()
    try:
        events = [e for data in reads(first, second) for e in client.receive_data(data)]
        return type(events[-1]).__name__
    except FrameTooLargeError as e:
        return f'FrameTooLargeError {e}'


print(f'acknowledgement and frame in two reads: {received(lambda a, b: [a, b])}')
print(f'acknowledgement and frame in one read: {received(lambda a, b: [a + b])}')
PYTHON
PYTHONPATH="$work/usr/lib/python3/dist-packages" python3 finding.py > seen
cat seen
diff seen - <<'EXPECTED'
acknowledgement and frame in two reads: DataReceived
acknowledgement and frame in one read: FrameTooLargeError Received overlong frame: length 20000, max 16384
EXPECTED
