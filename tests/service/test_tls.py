"""The service over TLS, and certificates that change while it runs. What needs certificates is skipped where there is no openssl command."""

import http.client
import itertools
import shutil
import signal
import ssl
import subprocess

import pytest

from harness import HEAD, PLAIN, Answer, until, wait_for

TLS = "tls: {certificate: cert.pem, key: key.pem}\n"
ARMS = HEAD + ("  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 100, "
               "agent: {kind: ucbvi, privacy: {model: none}}}\n")


def openssl(s, *arguments):
    subprocess.run(["openssl", *arguments], cwd=s.directory, check=True, capture_output=True)


def make_certificate(s, name):
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl command")
    openssl(s, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", "key.pem",
            "-out", "cert.pem")


def name_of(link):
    """The name on the certificate that the server shows, whoever it is from."""
    der = link.getpeercert(binary_form=True)
    said = subprocess.run(["openssl", "x509", "-inform", "der", "-noout", "-subject", "-nameopt", "multiline"], input=der,
                          capture_output=True, check=True).stdout.decode()
    return said.split("commonName")[1].split("=")[1].strip()


def connect(s, context=None):
    if context is None:
        context = ssl._create_unverified_context()
    link = http.client.HTTPSConnection("127.0.0.1", s.port, timeout=60, context=context)
    link.connect()
    return link


def ask(link):
    link.request("GET", "/healthz")
    response = link.getresponse()
    return Answer(response.status, response.headers, response.read())


def look(s):
    """The name on the certificate, and the status of /healthz."""
    link = connect(s)
    try:
        return name_of(link.sock), ask(link).status
    finally:
        link.close()


@pytest.fixture
def serve_tls(serve):
    def make(yaml=PLAIN):
        s = serve(TLS + yaml, start=False)
        make_certificate(s, "first")
        assert s.start()
        return s
    return make


def test_tls_speaks_with_its_certificate_and_takes_a_new_one(serve):
    s = serve(TLS + PLAIN, start=False)
    s.does_not_start()  # there is none yet
    make_certificate(s, "first")
    assert s.start() and s.url.startswith("https://")
    assert look(s) == ("first", 200)
    with pytest.raises((http.client.HTTPException, OSError)):  # not in the clear
        s.get("/healthz")
    make_certificate(s, "second")
    s.send(signal.SIGHUP)
    assert until(lambda: look(s) == ("second", 200))
    # one that does not work is not taken
    s.write("cert.pem", "nonsense\n")
    s.send(signal.SIGHUP)
    wait_for(lambda: "not a certificate in PEM format" in s.read("err"))
    assert look(s) == ("second", 200)
    # neither is the key of another
    make_certificate(s, "third")
    openssl(s, "genrsa", "-out", "key.pem", "2048")
    s.send(signal.SIGHUP)
    wait_for(lambda: "do not match" in s.read("err"))
    assert look(s) == ("second", 200)
    s.end()
    s.does_not_start()  # nor to begin with


def test_a_new_certificate_closes_no_connection(serve_tls):
    s = serve_tls("limits: {timeout: 600}\n" + ARMS)
    link = connect(s)
    first = link.sock
    assert name_of(first) == "first" and ask(link).status == 200
    for name in "new0", "new1", "new2":
        make_certificate(s, name)
        s.send(signal.SIGHUP)
        assert until(lambda name=name: look(s) == (name, 200))
    assert ask(link).status == 200 and link.sock is first  # on the connection of the first certificate
    link.close()


@pytest.mark.parametrize("version, spoken", [("-tls1_3", True), ("-tls1_2", True), ("-tls1_1", False), ("-tls1", False)])
def test_old_versions_are_not_spoken(serve_tls, version, spoken):
    """openssl is made to offer a version whatever its own policy is."""
    s = serve_tls()
    said = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{s.port}", version, "-cipher", "ALL:@SECLEVEL=0"],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False).stdout.decode()
    assert ("Cipher is " in said.replace("Cipher is (", "")) == spoken


def test_speaking_in_the_clear_to_others_is_remarked(serve):
    s = serve()
    assert "without TLS" not in s.read("err")
    s.restart(PLAIN.replace("127.0.0.1:0", "0.0.0.0:0"))
    assert "listening on 0.0.0.0 without TLS" in s.read("err")


def drip(link, byte):
    """A byte now and then, until the other side closes; what it said."""
    link.setblocking(False)
    turns, heard = itertools.count(1), []

    def is_closed():
        try:
            if next(turns) % 10 == 0:
                link.send(byte)
            heard.append(link.recv(4096))
            return heard[-1] == b""
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        except OSError:
            return True
    assert until(is_closed)
    return b"".join(heard)


def test_drops_over_tls_are_cut_off(serve_tls):
    """Somebody who goes on for ever, a byte at a time, in the handshake (its first record) and in a head."""
    s = serve_tls("limits: {timeout: 1}\n" + ARMS)
    with s.connect() as link:
        link.sendall(b"\x16\x03\x01\x20\x00\x01\x00\x1f\xfc\x03\x03")  # 8 KiB are to come
        drip(link, b"\1")

    def shake_hands():  # again, if it has not got through the handshake in time
        try:
            return connect(s).sock
        except OSError:
            return None
    with wait_for(shake_hands) as link:
        link.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Drops: ")
        assert b"HTTP/1.1" not in drip(link, b"z")
    assert until(lambda: look(s) == ("first", 200))  # and others are served
