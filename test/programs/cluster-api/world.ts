/** What plays the outside of Cluster API: machines that come up as Nodes of the workload cluster. */
import type { Kubectl } from "../kubectl/kubectl.ts";

export type Json = Record<string, unknown>;

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

export async function get(k: Kubectl, ...what: readonly string[]): Promise<Json> {
  return JSON.parse(await k.run("get", ...what, "-o", "json")) as Json;
}

export async function items(k: Kubectl, ...what: readonly string[]): Promise<Json[]> {
  return (await get(k, ...what))["items"] as Json[];
}

export function nameOf(object: Json): string {
  return String((object["metadata"] as Json)["name"]);
}

/** "Type=Status/Reason", sorted. */
export function conditionsOf(object: Json): string[] {
  const list = (object["status"] as { conditions?: Condition[] } | undefined)?.conditions ?? [];
  return list.map(({ type, status, reason }) => `${type}=${status}/${reason}`).toSorted();
}

export async function until(what: string, attempt: () => Promise<unknown>, milliseconds = 180_000): Promise<void> {
  const deadline = Date.now() + milliseconds;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      last = await attempt();
      if (last === true) return;
    } catch (error) {
      last = error;
    }
    await new Promise((done) => setTimeout(done, 300));
  }
  throw new Error(`not in time: ${what}: ${last instanceof Error ? last.message : JSON.stringify(last)}`);
}

/** Makes a Node of each StubMachine that has none yet, and says so in the machine. */
export async function bringUp(k: Kubectl): Promise<void> {
  for (const machine of await items(k, "stubmachines")) {
    if ((machine["spec"] as Json)["providerID"] !== undefined) continue;
    const name = nameOf(machine);
    const providerID = `stub://${name}`;
    await k.feed({ apiVersion: "v1", kind: "Node", metadata: { name }, spec: { providerID } }, "create", "-f", "-");
    const now = new Date().toISOString().replace(/\.\d+/, "");
    const ready = { type: "Ready", status: "True", reason: "Up", message: "", lastTransitionTime: now };
    const conditions = [
      ready,
      ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => ({ ...ready, type, status: "False" })),
    ];
    const status = { conditions, nodeInfo: { kubeletVersion: "v1.34.4" } };
    await k.run("patch", "node", name, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status }));
    await k.run("patch", "stubmachine", name, "--type=merge", "-p", JSON.stringify({ spec: { providerID } }));
    const provisioned = { status: { initialization: { provisioned: true } } };
    await k.run(
      "patch",
      "stubmachine",
      name,
      "--subresource=status",
      "--type=merge",
      "-p",
      JSON.stringify(provisioned),
    );
  }
}

/** "Kind/name <- Kind/name of its owner", sorted; with the uids by which owners are meant when they are not there. */
export async function inventory(k: Kubectl, kinds: string): Promise<string[]> {
  const all = await items(k, kinds);
  const byUid = new Map(all.map((o) => [String((o["metadata"] as Json)["uid"]), `${String(o["kind"])}/${nameOf(o)}`]));
  const lines = all.map((o) => {
    const owners = ((o["metadata"] as Json)["ownerReferences"] as { uid: string }[] | undefined) ?? [];
    return `${String(o["kind"])}/${nameOf(o)} <- ${owners.map(({ uid }) => byUid.get(uid) ?? uid).join(",")}`;
  });
  return lines.toSorted();
}
