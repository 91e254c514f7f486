/** The end of a deletion: the finalizer goes with the row as it was before its credential was read. */
import { expect, it } from "vitest";
import type { MagnumCluster } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import { Secret, type KubernetesClient } from "@causeway/kubernetes";
import { credentialData, type ClusterCredential } from "./credentials.ts";
import type { Observed } from "./gather.ts";
import { finalizer } from "./names.ts";
import { perform } from "./perform.ts";

const never = new AbortController().signal;
const rowOf = (resourceVersion: string, uid = "u"): MagnumCluster =>
  ({
    metadata: { namespace: "n", name: "web", uid, resourceVersion, finalizers: ["another", finalizer] },
    spec: { uuid: "1", name: "web", projectID: "p" },
  }) as unknown as MagnumCluster;
const credential: ClusterCredential = { userId: "u", id: "late", secret: "s" };

/** A client whose row is the last of `rows`, and what was done by it. */
function played(rows: MagnumCluster[]) {
  const done: string[] = [];
  const client = {
    async patch(_type: unknown, _key: unknown, { body }: { body: readonly { path: string; value?: unknown }[] }) {
      const wanted = body.find(({ path }) => path === "/metadata/resourceVersion")?.value;
      done.push(`release ${String(wanted)}`);
      const [row] = rows;
      if (row === undefined) throw new CausewayError("KUBERNETES_NOT_FOUND", "it is gone");
      if (row.metadata.resourceVersion !== wanted) throw new CausewayError("KUBERNETES_INVALID", "the test failed");
    },
    find: async (type: { kind: string }) =>
      type.kind === Secret.kind ? { kind: "Secret", data: credentialData(credential) } : rows[0],
  } as unknown as KubernetesClient;
  const revoke = async ({ id }: { id: string }) => void done.push(`revoke ${id}`);
  const release = (object: MagnumCluster) =>
    perform({ client, credentials: { revoke } }, { type: "remove-finalizer" }, { object } as Observed, never);
  return { done, release };
}

it.each<[string, MagnumCluster[], readonly string[]]>([
  ["at once from the row as it was read", [rowOf("1")], ["release 1"]],
  [
    "from one that changed since after its credential is revoked again",
    [rowOf("2")],
    ["release 1", "revoke late", "release 2"],
  ],
  ["from none that is gone", [], ["release 1"]],
  ["from no other of the name", [rowOf("2", "another")], ["release 1"]],
])("the finalizer goes %s", async (_, rows, expected) => {
  const { done, release } = played(rows);
  await release(rowOf("1"));
  expect(done).toEqual(expected);
});
