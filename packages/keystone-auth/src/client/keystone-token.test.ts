import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog, VirtualClock } from "@causeway/foundation";
import { createIdentityClient, loadCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { record, text } from "../values.ts";
import { keystoneToken } from "./keystone-token.ts";
import { renderCredential, requestedVersion, usableCredential } from "./plan-credential.ts";

describe("an ExecCredential", () => {
  const info = (apiVersion: string) =>
    JSON.stringify({ apiVersion, kind: "ExecCredential", spec: { interactive: false } });
  it.each<[string | undefined, string]>([
    [undefined, "client.authentication.k8s.io/v1"],
    ["", "client.authentication.k8s.io/v1"],
    [info("client.authentication.k8s.io/v1"), "client.authentication.k8s.io/v1"],
    [info("client.authentication.k8s.io/v1beta1"), "client.authentication.k8s.io/v1beta1"],
  ])("for KUBERNETES_EXEC_INFO %s has version %s", (given, version) => {
    expect(requestedVersion(given)).toBe(version);
  });

  it.each(["{", "[]", info("client.authentication.k8s.io/v1alpha1")])(
    "is refused for KUBERNETES_EXEC_INFO %s",
    (given) => {
      expect(() => requestedVersion(given)).toThrow("KUBERNETES_EXEC_INFO asks for");
    },
  );

  it("has the token and when it expires, to the second", () => {
    const expires = Date.UTC(2030, 0, 2, 3, 4, 5, 678);
    expect(JSON.parse(renderCredential("client.authentication.k8s.io/v1", { token: "t", expires }))).toEqual({
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      status: { token: "t", expirationTimestamp: "2030-01-02T03:04:05Z" },
    });
  });

  it.each<[string, boolean]>([
    ['{"token": "t", "expires": 1000000}', true],
    ['{"token": "t", "expires": 200000}', false],
    ['{"token": "", "expires": 1000000}', false],
    ['{"token": "t", "expires": "1000000"}', false],
    ['{"token": "t", "expires": 9e99}', false],
    ['{"token": "t", "expires": 253402300800000}', false],
    [String.raw`{"token": "t\r\nX-Evil: 1", "expires": 1000000}`, false],
    ['{"token": "a b", "expires": 1000000}', false],
    ["{", false],
    ["null", false],
  ])("in the cache as %s can be used: %s", (content, usable) => {
    expect(usableCredential(content, 100_000) !== undefined).toBe(usable);
  });
});

describe("the command keystone-token", () => {
  let simulator: Simulator;
  let folder: string;
  let clock: VirtualClock;
  let config: CloudConfig;
  beforeEach(async () => {
    simulator = await startSimulator({ profile: "instant" });
    folder = join(mkdtempSync(join(tmpdir(), "keystone-token-")), "cache");
    clock = new VirtualClock(Date.now());
    config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
  });
  afterEach(async () => {
    await simulator.close();
    rmSync(join(folder, ".."), { recursive: true, force: true });
  });

  async function token(given = config, cacheFolder: string | undefined = folder): Promise<string> {
    const printed = await keystoneToken({ config: given, execInfo: undefined, cacheFolder, clock, log: silentLog });
    return text(record(record(JSON.parse(printed))["status"])["token"]);
  }

  it("prints a token that Keystone accepts, and keeps it in a file of mode 0600", async () => {
    const first = await token();
    const client = createIdentityClient(config);
    expect((await client.validate(first)).project?.name).toBe("demo");
    client.close();
    const [name = ""] = readdirSync(folder);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const calls = simulator.calls.length;
    expect(await token()).toBe(first);
    expect(simulator.calls.length).toBe(calls);
  });

  it("gets a new token when the old one is about to expire, for other credentials, and without a cache", async () => {
    const first = await token();
    expect(await token(loadCloudsYaml({ cloud: "simulator-alt", text: simulator.cloudsYaml }))).not.toBe(first);
    await clock.advance(24 * 3_600_000 - 60_000);
    expect(await token()).not.toBe(first);
    const options = { config, execInfo: undefined, cacheFolder: undefined, clock, log: silentLog };
    expect(await keystoneToken(options)).not.toBe(await keystoneToken(options));
  });

  it("does not believe a cache file that others may read", async () => {
    const first = await token();
    const [name = ""] = readdirSync(folder);
    chmodSync(join(folder, name), 0o644);
    expect(await token()).not.toBe(first);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it("prints a token when none can be kept", async () => {
    writeFileSync(`${folder}-file`, "");
    expect(await token(config, join(`${folder}-file`, "below"))).toMatch(/^gAAAAA/);
  });

  it("fails without a credential on standard output when Keystone refuses", async () => {
    const wrong = {
      ...config,
      auth: { type: "password", username: "demo", userDomain: { name: "Default" }, password: "no" },
    } as const;
    await expect(token(wrong)).rejects.toMatchObject({ code: "OPENSTACK_UNAUTHORIZED" });
  });
});
