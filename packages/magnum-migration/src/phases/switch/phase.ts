import { isIP } from "node:net";
import { HostedControlPlane } from "@causeway/api";
import {
  createClient,
  EndpointSlice,
  getCondition,
  isTrue,
  Lease,
  loadKubeconfig,
  Namespace,
  Secret,
  secretText,
  type Condition,
} from "@causeway/kubernetes";
import { controlPlaneUnits, readUnits, stopUnits } from "../../masters/units.ts";
import type { MigrationRecord } from "../../record/record.ts";
import { definePhase, type Tools } from "../../phase.ts";
import { endpointOf } from "../import/objects.ts";
import { setStage } from "../import/phase.ts";
import { unreachedKubelets } from "./kubelets.ts";
import { unreachedServices } from "./services.ts";
import { predictSwitch } from "./predict.ts";
import { memberNameOf, planSwitch, type PoolMember, type SwitchFacts, type SwitchStep } from "./plan.ts";

const LEASES = ["kube-controller-manager", "kube-scheduler"] as const;
const FRESH = 10_000;
const kubeSystem = { namespace: "", name: "kube-system" };

/** Phase 4: the cluster's address leads to the hosted API server, and those of the masters stop. */
export const switchPhase = definePhase<SwitchFacts, SwitchStep>({
  name: "switch",
  gather: gatherSwitch,
  plan: planSwitch,
  predict: predictSwitch,
  async perform(tools, record, step, signal) {
    const { loadBalancing } = tools.cloud;
    const { api } = record.inventory;
    switch (step.type) {
      case "serve":
        await setStage(tools.management, record, "Serve", signal);
        return;
      case "add-pool-member": {
        const member = { name: memberNameOf(record.name), address: step.address, protocol_port: step.port };
        await loadBalancing.replaceMembers(api?.poolId ?? "", [member], { additive: true, signal });
        return;
      }
      case "remove-pool-member":
        await loadBalancing.members(api?.poolId ?? "").delete(step.id, { signal });
        return;
      case "stop-control-plane":
        await stopUnits(tools, step.address, controlPlaneUnits, signal);
        return;
      case "write-endpoints":
        await writeEndpoints(tools, record, signal);
        return;
    }
  },
});

async function gatherSwitch(tools: Tools, record: MigrationRecord, signal: AbortSignal): Promise<SwitchFacts> {
  const { management, source, clock } = tools;
  const key = { namespace: record.namespace, name: record.name };
  const object = await management.find(HostedControlPlane, key, { signal });
  const conditions = (object?.status?.conditions ?? []) as Condition[];
  const isAvailable = isTrue(conditions, "Available") && object?.status?.datastore?.stage === "Serve";
  const apiAddress = object?.status?.datastore?.apiAddress;
  const pool = await readPool(tools, record, signal);
  const masters = await readUnits(tools, record.inventory.masters, controlPlaneUnits, signal);
  const leases = await Promise.all(
    LEASES.map(async (name) => {
      const lease = await source.find(Lease, { namespace: "kube-system", name }, { signal }).catch(() => undefined);
      const renewed = Date.parse(lease?.spec?.renewTime ?? "");
      return { name, holder: lease?.spec?.holderIdentity ?? "", isFresh: clock.now() - renewed < FRESH };
    }),
  );
  const uid = await source.get(Namespace, kubeSystem, { signal }).then(
    ({ metadata }) => metadata.uid,
    () => undefined,
  );
  const address = isAvailable ? apiAddress : undefined;
  // Once it is the only one, there is no other to compare it with.
  const isLed = pool.members.some(({ name }) => name === memberNameOf(record.name));
  const hosted = await readHosted(tools, record, { address, withProbes: !isLed }, signal);
  return {
    wantedStage: object?.spec.datastore?.stage,
    isAvailable,
    message: getCondition(conditions, "Available")?.message ?? "it is being started",
    apiAddress,
    uid,
    acceptsUnreachable: tools.acceptUnreachable === true,
    ...hosted,
    ...pool,
    masters,
    hasEndpoints: await hasEndpoints(tools, record, signal),
    leases,
  };
}

/** The hosted API itself, not by way of the load balancer; with a certificate of the cluster's own authority. */
async function readHosted(
  tools: Tools,
  { namespace, name }: MigrationRecord,
  { address, withProbes }: { readonly address: string | undefined; readonly withProbes: boolean },
  signal: AbortSignal,
): Promise<Pick<SwitchFacts, "hostedUid" | "kubelets" | "services">> {
  const unknown = { hostedUid: undefined, kubelets: [], services: [] };
  const secret = await tools.management.find(Secret, { namespace, name: `${name}-kubeconfig` }, { signal });
  const text = secretText(secret, "value");
  if (text === undefined || address === undefined) return unknown;
  const client = createClient({
    ...loadKubeconfig({ text }),
    server: `https://${address}`,
    tlsServerName: "kubernetes",
  });
  try {
    const uid = await client.get(Namespace, kubeSystem, { signal }).then(
      ({ metadata }) => metadata.uid,
      () => undefined,
    );
    if (uid === undefined || !withProbes) return { ...unknown, hostedUid: uid };
    const probe = { ...tools, hosted: client };
    const kubelets = await unreachedKubelets(probe, signal);
    return { hostedUid: uid, kubelets, services: await unreachedServices(probe, signal) };
  } finally {
    await client.close();
  }
}

/** The members of the API's load balancer; none for a cluster without one. */
export async function readPool(
  { cloud }: Tools,
  { inventory }: MigrationRecord,
  signal: AbortSignal,
): Promise<Pick<SwitchFacts, "members" | "isPoolBusy">> {
  const { api } = inventory;
  if (!api) return { members: [], isPoolBusy: false };
  const balancer = await cloud.loadBalancing.loadBalancers.get(api.id, { signal });
  const members = await cloud.loadBalancing.members(api.poolId).all({}, { signal });
  return {
    isPoolBusy: balancer.provisioning_status !== "ACTIVE",
    members: members.map((one): PoolMember => ({
      id: one.id,
      name: one.name,
      address: one.address,
      port: one.protocol_port,
      isReady: one.provisioning_status === "ACTIVE" && !["OFFLINE", "ERROR"].includes(one.operating_status),
    })),
  };
}

const slice = { namespace: "default", name: "kubernetes" };

async function hasEndpoints({ source }: Tools, { inventory }: MigrationRecord, signal: AbortSignal): Promise<boolean> {
  const { host, port } = addressOf(inventory);
  const found = await source.find(EndpointSlice, slice, { signal }).catch(() => undefined);
  const addresses = (found?.endpoints ?? []).flatMap((one) => one.addresses);
  return addresses.length === 1 && addresses[0] === host && found?.ports?.[0]?.port === port;
}

/** Pods reach the API at an address: that of the endpoint, or the load balancer's own where the endpoint is a name. */
function addressOf(inventory: MigrationRecord["inventory"]): { host: string; port: number } {
  const endpoint = endpointOf(inventory);
  return isIP(endpoint.host) === 0 ? { ...endpoint, host: inventory.api?.vip ?? "" } : endpoint;
}

async function writeEndpoints({ source }: Tools, { inventory }: MigrationRecord, signal: AbortSignal): Promise<void> {
  const { host, port } = addressOf(inventory);
  const ports = [{ name: "https", port, protocol: "TCP" }];
  await source.patch(
    EndpointSlice,
    slice,
    { type: "merge", body: { endpoints: [{ addresses: [host], conditions: { ready: true } }], ports } },
    { signal },
  );
  const subsets = [{ addresses: [{ ip: host }], ports }];
  const path = "/api/v1/namespaces/default/endpoints/kubernetes";
  await source.request("PATCH", path, { body: { subsets }, contentType: "application/merge-patch+json", signal });
}
