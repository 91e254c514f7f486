// @ts-check
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { GenericContainer, Wait } from "testcontainers";

const image = process.env["CAUSEWAY_IMAGE"] ?? "causeway:test";
const json = { "content-type": "application/json" };
/** @type {import("testcontainers").StartedTestContainer} */
let cloud;
let origin = "";

before(async () => {
  cloud = await new GenericContainer(image)
    .withCommand(["cloud", "--bind-address", "0.0.0.0", "--insecure", "--port", "5000"])
    .withExposedPorts(5000)
    .withWaitStrategy(Wait.forHttp("/_control/clouds.yaml", 5000))
    .start();
  origin = `http://${cloud.getHost()}:${cloud.getMappedPort(5000)}`;
  await control("snapshots", { name: "base" });
});
after(() => cloud?.stop());
beforeEach(() => control("snapshots/restore", { name: "base" }));

/** @param {string} path @param {object} body */
async function control(path, body) {
  const response = await fetch(`${origin}/_control/${path}`, {
    method: "POST",
    headers: json,
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200, await response.text());
}

/** The token, and the endpoint of a service type in the catalog. */
async function login() {
  const domain = { id: "default" };
  const auth = {
    identity: { methods: ["password"], password: { user: { name: "demo", domain, password: "devcloud" } } },
    scope: { project: { name: "demo", domain } },
  };
  const response = await fetch(`${origin}/identity/v3/auth/tokens`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ auth }),
  });
  assert.equal(response.status, 201);
  const { token } = await response.json();
  return {
    token: response.headers.get("x-subject-token") ?? "",
    /** @param {string} type */
    endpoint(type) {
      const service = token.catalog.find((/** @type {{ type: string }} */ each) => each.type === type);
      return service.endpoints[0].url;
    },
  };
}

for (const attempt of ["first", "second"]) {
  test(`a network of the ${attempt} test is the only one of its project`, async () => {
    const { token, endpoint } = await login();
    assert.ok(endpoint("network").startsWith(origin), "the catalog names the published port");
    const networks = `${endpoint("network")}/v2.0/networks`;
    const headers = { ...json, "x-auth-token": token };
    const body = JSON.stringify({ network: { name: "web" } });
    assert.equal((await fetch(networks, { method: "POST", headers, body })).status, 201);
    const listed = await (await fetch(`${networks}?name=web`, { headers })).json();
    assert.equal(listed.networks.length, 1);
  });
}
