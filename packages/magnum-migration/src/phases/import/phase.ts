import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { Cluster, HostedControlPlane, MagnumCluster } from "@causeway/api";
import { createAuthority, createRequest, type KeyPair } from "@causeway/foundation";
import { getCondition, isAlreadyExists, Secret, type Condition, type KubernetesClient } from "@causeway/kubernetes";
import type { Manifest } from "@causeway/api";
import { etcdUrlsOf, openEtcd } from "../../etcd/access.ts";
import type { EtcdClient, EtcdMember } from "../../etcd/client.ts";
import type { MigrationRecord } from "../../record/record.ts";
import { definePhase, type Tools } from "../../phase.ts";
import { magnumClusterOf } from "../../record/rows.ts";
import { clusterManifests, secretManifest } from "./objects.ts";
import { readRoots } from "../../masters/roots.ts";
import { knownMasterFiles } from "../../masters/pki.ts";
import { predictImport } from "./predict.ts";
import { planImport, type ImportFacts, type ImportStep } from "./plan.ts";

/** Phase 3: keys and objects of the hosted control plane; its etcd joins that of the masters. */
export const importPhase = definePhase<ImportFacts, ImportStep>({
  name: "import",
  async gather(tools, record, signal) {
    const { namespace, name } = record;
    const { management } = tools;
    const has = async (purpose: string) =>
      (await management.find(Secret, { namespace, name: `${name}-${purpose}` }, { signal })) !== undefined;
    const [ca, proxy, sa, etcd] = [await has("ca"), await has("proxy"), await has("sa"), await has("etcd")];
    const key = { namespace, name };
    const objects = [
      await management.find(MagnumCluster, key, { signal }),
      await management.find(Cluster, key, { signal }),
    ];
    const controlPlane = await management.find(HostedControlPlane, key, { signal });
    const client = await openEtcd(tools, record, signal);
    const members = await client.members(signal);
    return {
      secrets: { ca, proxy, sa, etcd },
      hasCaKey: ca || (await readRoots(tools, record.inventory, signal)).caKey !== undefined,
      hasObjects: objects.every((one) => one !== undefined) && controlPlane !== undefined,
      peerURL: controlPlane?.status?.datastore?.peerURL,
      wantedStage: controlPlane?.spec.datastore?.stage,
      stage: controlPlane?.status?.datastore?.stage,
      members,
      peerHost: tools.peerHost,
      isLoopback: isLoopback(tools.peerHost),
      elsewhere: elsewhereOf(members),
      problem: problemOf(controlPlane),
      etcdVersion: await versionOf(client, tools, record, signal),
    };
  },
  plan: planImport,
  predict: predictImport,
  async perform(tools, record, step, signal) {
    const { namespace, name } = record;
    switch (step.type) {
      case "write-roots":
        await writeRoots(tools, record, signal);
        return;
      case "create-objects":
        await createObjects(tools, record, signal);
        return;
      case "sign-etcd":
        await signEtcd(tools, record, step.peerURL, signal);
        return;
      case "add-member":
        await (await openEtcd(tools, record, signal)).addLearner(step.peerURL, signal);
        return;
      case "follow":
        await setStage(tools.management, record, "Follow", signal);
        return;
      case "promote": {
        const promoted = await (await openEtcd(tools, record, signal)).promote(step.id, signal);
        if (!promoted) await tools.clock.sleep(500, signal);
        tools.report(promoted ? `${namespace}/${name}: etcd votes` : "it is not in sync yet");
        return;
      }
    }
  },
});

/** Whether other machines do not reach this one by it. */
export const isLoopback = (host: string): boolean =>
  /^(127\.|0\.0\.0\.0$|localhost$)/.test(host) || ["::1", "::", "[::1]", "[::]"].includes(host);

/** Hosts of members that are not this machine. */
function elsewhereOf(members: readonly EtcdMember[]): readonly string[] {
  const own = new Set(
    Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address.split("%")[0] ?? "")),
  );
  return members
    .flatMap(({ peerURLs }) => peerURLs)
    .map((url) => URL.parse(url)?.hostname.replaceAll(/^\[|\]$/g, "") ?? "")
    .filter((host) => host !== "" && !isLoopback(host) && !own.has(host));
}

/** The reason of Available while the runtime reports a problem, as docs/reference has it of HostedControlPlanes. */
const FAILED = "Failed";

function problemOf(controlPlane: HostedControlPlane | undefined): string | undefined {
  const available = getCondition((controlPlane?.status?.conditions ?? []) as Condition[], "Available");
  return available?.reason === FAILED ? available.message : undefined;
}

/**
 * Sets spec.datastore.stage of the HostedControlPlane: "Follow" joins etcd only, "Serve" starts the API server, too.
 */
export async function setStage(
  client: KubernetesClient,
  { namespace, name }: MigrationRecord,
  stage: "Follow" | "Serve",
  signal: AbortSignal,
): Promise<void> {
  await client.patch(
    HostedControlPlane,
    { namespace, name },
    { type: "merge", body: { spec: { datastore: { stage } } } },
    { signal },
  );
}

/** Of the first master's etcd. Empty: the cluster has no masters. */
export async function versionOf(
  client: Pick<EtcdClient, "status">,
  tools: Pick<Tools, "etcdUrls">,
  record: Pick<MigrationRecord, "inventory">,
  signal: AbortSignal,
): Promise<string> {
  const [url] = etcdUrlsOf(tools, record.inventory);
  return url === undefined ? "" : (await client.status(url, signal)).version;
}

async function create(client: KubernetesClient, { type, object }: Manifest, signal: AbortSignal): Promise<void> {
  try {
    await client.create(type, object, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function writeRoots(tools: Tools, record: MigrationRecord, signal: AbortSignal): Promise<void> {
  const { caKey, ...found } = await readRoots(tools, record.inventory, signal);
  // The plan has refused already what has no key, unless its Secret exists.
  if (caKey !== undefined)
    await create(tools.management, secretManifest(record, "ca", { "tls.crt": found.ca, "tls.key": caKey }), signal);
  await create(
    tools.management,
    secretManifest(record, "sa", { "tls.crt": found.serviceAccount, "tls.key": found.serviceAccountKey }),
    signal,
  );
  // Clients are shown the front proxy's authority by the API server itself: it signs with one of its own, whose key
  // remains here.
  const proxy = await createFrontProxy(record, tools.clock.now());
  await create(
    tools.management,
    secretManifest(record, "proxy", { "tls.crt": proxy.certificate, "tls.key": proxy.key }),
    signal,
  );
}

async function createFrontProxy({ name }: MigrationRecord, now: number): Promise<KeyPair> {
  return createAuthority({ commonName: `${name}-front-proxy`, lifetime: 10 * 365 * 86_400_000, now });
}

async function createObjects(tools: Tools, record: MigrationRecord, signal: AbortSignal): Promise<void> {
  const { management, peerHost, cloudsYaml, clock, keystone } = tools;
  const now = new Date(clock.now()).toISOString();
  await create(management, { type: MagnumCluster, object: magnumClusterOf(record, "import", now) } as Manifest, signal);
  const owner = await management.get(MagnumCluster, { namespace: record.namespace, name: record.name }, { signal });
  const found = await (await openEtcd(tools, record, signal)).members(signal);
  const members = found.map((member) => ({ name: member.name, peerURL: member.peerURLs[0] ?? "" }));
  for (const manifest of clusterManifests(record, owner, { members, peerHost, cloudsYaml, keystone }))
    await create(management, manifest, signal);
}

/** Magnum has the authority's key: the peer certificate, and one for the API server, are signed by its API. */
async function signEtcd(tools: Tools, record: MigrationRecord, peerURL: string, signal: AbortSignal): Promise<void> {
  const { hostname } = new URL(peerURL);
  const host = hostname.replaceAll(/^\[|\]$/g, "");
  const names =
    isIP(host) === 0
      ? { dnsNames: [host, "localhost"], ipAddresses: ["127.0.0.1"] }
      : { dnsNames: ["localhost"], ipAddresses: [...new Set([host, "127.0.0.1"])] };
  const issue = async (commonName: string): Promise<KeyPair> => {
    const { request, key } = await createRequest({ commonName, ...names });
    const certificate = await tools.cloud.containerInfrastructure.sign(record.inventory.uuid, request, {
      type: "etcd",
      signal,
    });
    return { certificate, key };
  };
  const [first] = record.inventory.masters;
  const { etcdCa } = await knownMasterFiles(tools, first?.address ?? "", signal);
  const [server, client] = [await issue("etcd-hosted"), await issue("kube-apiserver-etcd-client")];
  const data = {
    "ca.crt": etcdCa,
    "server.crt": server.certificate,
    "server.key": server.key,
    "client.crt": client.certificate,
    "client.key": client.key,
  };
  await create(tools.management, secretManifest(record, "etcd", data), signal);
}
