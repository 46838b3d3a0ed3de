"""What the tests of the service share: servers that end with their test, and the one of PLAIN that a file's tests share."""

import pytest

from harness import MAY_PRELOAD, ON_POSTGRES, PLAIN, Cluster, Server, Wall


def pytest_sessionstart():
    if ON_POSTGRES and Cluster.programs()[0] is None:
        pytest.exit("SKIPPED: PostgreSQL is not installed here (scripts/setup installs it)", returncode=77)
    if ON_POSTGRES:
        Cluster.shared = Cluster()


def pytest_sessionfinish():
    if Cluster.shared is not None:
        Cluster.shared.close()


def _serve(servers, yaml=PLAIN, files=None, environment=None, start=True):
    server = Server(yaml, files, environment)
    servers.append(server)
    server.token = server.make_token()
    if start:
        assert server.start(), server.read("err")
    return server


def _close(servers):
    errors = []
    for server in servers:
        try:
            server.close()
        except Exception as error:  # the others end as well
            errors.append(error)
    assert not errors, errors


@pytest.fixture
def serve():
    """Makes a server of a service file, with a token for everything; it ends with the test, by SIGTERM and status 0."""
    servers = []
    yield lambda *arguments, **more: _serve(servers, *arguments, **more)
    _close(servers)


@pytest.fixture(scope="module")
def serve_all():
    """The same for the tests of a file."""
    servers = []
    yield lambda *arguments, **more: _serve(servers, *arguments, **more)
    _close(servers)


@pytest.fixture(scope="module")
def plain(serve_all):
    """A server of PLAIN for tests that leave nothing behind that another would notice."""
    return serve_all(PLAIN)


@pytest.fixture
def walled():
    """Gives a server that does not run a clock that can be moved, which is returned."""
    if not MAY_PRELOAD:
        pytest.skip("a sanitizer's run-time must be the first library")
    return Wall
