"""openstacksdk on a simulated cloud that a container runs."""

import json
import os
import urllib.request

import openstack
import pytest
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import LogMessageWaitStrategy


class Cloud:
    def __init__(self, origin):
        self.origin = origin

    def control(self, path, body):
        request = urllib.request.Request(
            f"{self.origin}/_control/{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def clouds_yaml(self):
        with urllib.request.urlopen(f"{self.origin}/_control/clouds.yaml") as response:
            return response.read().decode()


@pytest.fixture(scope="session")
def cloud(tmp_path_factory):
    image = os.environ.get("CAUSEWAY_IMAGE", "causeway:test")
    arguments = "cloud --bind-address 0.0.0.0 --insecure --port 5000"
    ready = LogMessageWaitStrategy("simulated OpenStack at")
    with DockerContainer(image).with_command(arguments).with_exposed_ports(5000).waiting_for(ready) as container:
        running = Cloud(f"http://127.0.0.1:{container.get_exposed_port(5000)}")
        running.control("snapshots", {"name": "base"})
        file = tmp_path_factory.mktemp("cloud") / "clouds.yaml"
        file.write_text(running.clouds_yaml())
        os.environ["OS_CLIENT_CONFIG_FILE"] = str(file)
        yield running


@pytest.fixture
def connection(cloud):
    cloud.control("snapshots/restore", {"name": "base"})
    return openstack.connect(cloud="simulator")


@pytest.mark.parametrize("attempt", [1, 2])
def test_each_test_begins_with_the_same_cloud(connection, attempt):
    connection.network.create_network(name="web")
    assert len(list(connection.network.networks(name="web"))) == 1


def test_a_call_fails_once(cloud, connection):
    fault = {"when": "before", "status": 503}
    cloud.control("faults", {"faults": [{"service": "network", "method": "GET", "times": 1, "fault": fault}]})
    with pytest.raises(openstack.exceptions.HttpException):
        list(connection.network.networks())
    assert any(network.name == "public" for network in connection.network.networks())
