import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { afterEach, describe, expect, it } from "vitest";
import type { CloudConfig } from "../config/config.ts";
import { connectCloud } from "../connect.ts";
import { closeAll, failure, inTurn, open, start } from "../testing/connected.ts";
import { HastyClock, PASSWORD, scriptedCloud, type Script } from "../testing/scripted-cloud.ts";

afterEach(closeAll);
const networks = { body: { networks: [] } };

const withPassword = (password: string): CloudConfig["auth"] => ({ type: "password", username: "demo", password });

describe("credentials that have been rotated", () => {
  /** A cloud whose config a person changes by `write`. */
  async function rotated(script: Script, auth: CloudConfig["auth"]) {
    let now: CloudConfig | undefined;
    const reload = (): CloudConfig => {
      if (!now) throw new Error("the file is being replaced");
      return now;
    };
    const started = await start(script, { reload, config: { auth } });
    const write = (changes: Partial<CloudConfig>) => (now = { ...started.server.config, auth, ...changes });
    return { ...started, write };
  }

  it("are used at the next authentication", async () => {
    const { server, cloud, clock, write } = await rotated(inTurn(networks), withPassword(PASSWORD));
    await cloud.network.networks.all();
    write({ auth: { type: "application_credential", id: "ac-2", secret: PASSWORD } });
    clock.pass(3_500_000);
    await cloud.network.networks.all();
    const asked = server.seen.filter((seen) => seen.path.endsWith("/auth/tokens")).map((seen) => seen.body);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toMatchObject({ auth: { identity: { methods: ["application_credential"] } } });
  });

  it("end the wait after refused credentials at once", async () => {
    const { cloud, write } = await rotated(inTurn(networks), withPassword("old"));
    expect((await failure(cloud.network.networks.all())).code).toBe("OPENSTACK_UNAUTHORIZED");
    write({ auth: withPassword(PASSWORD) });
    expect(await cloud.network.networks.all()).toEqual([]);
  });

  it("that cannot be read yet do not replace the old ones", async () => {
    const { cloud, clock } = await rotated(inTurn(networks), withPassword(PASSWORD));
    await cloud.network.networks.all();
    clock.pass(3_500_000);
    expect(await cloud.network.networks.all()).toEqual([]);
  });

  it("for another project are refused, without repeated authentication requests", async () => {
    const { server, cloud, clock, write } = await rotated(({ path }, { tokens }) => {
      if (!path.endsWith("/auth/tokens")) return path.startsWith("/identity") ? undefined : networks;
      return tokens === 1 ? undefined : { status: 201, headers: { "x-subject-token": "t" }, body: elsewhere };
    }, withPassword(PASSWORD));
    await cloud.network.networks.all();
    write({ scope: { projectName: "another" } });
    clock.pass(3_500_000);
    expect(await failure(cloud.network.networks.all())).toMatchObject({
      code: "CLOUD_TARGET_CHANGED",
      message: expect.stringContaining("p-2"),
    });
    await failure(cloud.network.networks.all());
    expect(server.count("POST", "/auth/tokens")).toBe(2);
  });
  const elsewhere = {
    token: {
      project: { id: "p-2" },
      catalog: [
        { type: "network", endpoints: [{ interface: "public", region_id: "R1", url: "http://127.0.0.1:9/network" }] },
      ],
      expires_at: "2026-01-01T01:00:00Z",
      issued_at: "2026-01-01T00:00:00Z",
    },
  };
});

it("an authority whose file has been replaced is trusted without a restart", async () => {
  const authority = (commonName: string) => createAuthority({ commonName, lifetime: 3_600_000 });
  const folder = mkdtempSync(join(tmpdir(), "authority-"));
  const caFile = join(folder, "ca.pem");
  try {
    const [old, fresh] = [await authority("old"), await authority("new")];
    const names = { commonName: "cloud", ipAddresses: ["127.0.0.1"], usages: ["server"], lifetime: 3_600_000 } as const;
    const pair = await issueCertificate(fresh, names);
    const server = await scriptedCloud(() => undefined, { tls: { key: pair.key, cert: pair.certificate } });
    writeFileSync(caFile, old.certificate);
    const cloud = connectCloud({ ...server.config, tls: { caFile } }, { clock: new HastyClock() });
    open.push(cloud, server);
    expect((await failure(cloud.projectId())).code).toBe("OPENSTACK_TLS");
    writeFileSync(caFile, fresh.certificate);
    expect(await cloud.projectId()).toBe("p-1");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("an OpenID Connect access token", () => {
  const auth = {
    type: "oidc_access_token",
    identityProvider: "idp",
    protocol: "openid",
    accessToken: "a.b.c",
  } as const;
  const federation = "/identity/v3/OS-FEDERATION/identity_providers/idp/protocols/openid/auth";

  it("is exchanged for a token of Keystone's, and that for one of the project", async () => {
    const { server, cloud } = await start(
      ({ path }) => (path === federation ? { status: 201, headers: { "x-subject-token": PASSWORD } } : undefined),
      { config: { auth } },
    );
    expect(await cloud.projectId()).toBe("p-1");
    expect(server.seen.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      [federation, "Bearer a.b.c"],
      ["/identity/v3/auth/tokens", undefined],
    ]);
    expect(server.seen[1]?.body).toMatchObject({
      auth: { identity: { methods: ["token"], token: { id: PASSWORD } }, scope: { project: { name: "demo" } } },
    });
  });
  it("that is refused is reported as refused", async () => {
    const { cloud } = await start(({ path }) => (path === federation ? { status: 401 } : undefined), {
      config: { auth },
    });
    expect(await failure(cloud.projectId())).toMatchObject({
      code: "OPENSTACK_UNAUTHORIZED",
      hint: expect.stringContaining("access token"),
    });
  });
});
