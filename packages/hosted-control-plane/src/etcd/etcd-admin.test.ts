import { createServer, type AddressInfo } from "node:net";
import { createAuthority, systemClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { openEtcd } from "./etcd-admin.ts";

test.for<[title: string, password: string, hint: RegExp, path: string]>([
  [
    "that control planes share is about its users",
    "secret",
    /creates the users of the pooled etcd/,
    "auth/authenticate",
  ],
  ["of one control plane is about its port and its quorum", "", /port 2379.*quorum/, "maintenance/status"],
])("the hint for an unreachable etcd %s", async ([, password, hint, path]) => {
  const listener = createServer();
  await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done));
  const { port } = listener.address() as AddressInfo;
  await new Promise((done) => listener.close(done));
  const authority = await createAuthority({ commonName: "etcd-ca", lifetime: 3600_000 });
  const access = { addresses: ["127.0.0.1"], port, serverName: "localhost", authority, password };
  const using = { clock: systemClock, signal: new AbortController().signal };
  const calling = openEtcd(access, using).then((call) => call("maintenance/status"));
  await expect(calling).rejects.toMatchObject({
    code: "PODS_ETCD_UNREACHABLE",
    message: expect.stringContaining(path) as string,
    hint: expect.stringMatching(hint) as string,
  });
});
