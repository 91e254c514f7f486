/**
 * `npm run test:charts`: our Helm charts, linted and rendered by helm. With their own values those of deploy/NAME are
 * exactly the objects of the plain manifests; with all options on each document is valid, too. Each is then installed,
 * upgraded, rolled back and removed on a real kube-apiserver and on ours, which also take all plain manifests of
 * deploy/. Names on the command line choose charts and folders. Builds helm, kubectl and kube-apiserver with Go at
 * first, into the user's cache directory.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseAllDocuments } from "yaml";
import { definitionProblems, installProblems, manifestProblems, type Rights } from "./install.ts";
import type { ServerName } from "../contracts/kubernetes/interface.ts";
import { startServer } from "../programs/servers.ts";
import { buildMissing, cached, kubernetesBinaries, pinnedVersion, root } from "../../scripts/kubernetes-programs.ts";

const MODULE = "helm.sh/helm/v3";
/** A helm that is built without its release script takes an old one for the cluster. */
const KUBERNETES = "1.34.0";
const NAMESPACE = "kube-system";

interface Chart {
  readonly name: string;
  /** The folder below deploy whose manifests are the same objects, and its namespace. Default: kube-system. */
  readonly plain?: string;
  /** Files of that folder that the chart has with options only. */
  readonly optional?: readonly string[];
  readonly namespace?: string;
  /** Values without which nothing is rendered. */
  readonly needed?: readonly string[];
  /** Values that turn every option on, and kinds that they add. */
  readonly options: readonly string[];
  readonly kinds: readonly string[];
  /** Texts of the objects, as JSON, that the options add. */
  readonly texts?: readonly string[];
  /** Options for which a cluster needs no CRD of others. */
  readonly upgrade: readonly string[];
  readonly rights: readonly Rights[];
  /** Its rights are on resources of deploy/crds. */
  readonly crds?: boolean;
}

const everyChart: readonly Chart[] = [
  {
    name: "cloud-controller-manager",
    needed: ["cloudConfig=[Global]"],
    options: ["serviceMonitor.enabled=true", "clusterCIDR=10.244.0.0/16"],
    kinds: ["ServiceMonitor"],
    upgrade: ["clusterCIDR=10.244.0.0/16", "replicas=3"],
    rights: [
      {
        account: "release",
        granted: [
          "patch nodes --subresource=status",
          "patch services --subresource=status",
          "create events",
          "create tokenreviews.authentication.k8s.io",
        ],
        refused: ["list secrets", "get pods", "create services", "patch clusterroles.rbac.authorization.k8s.io"],
      },
    ],
  },
  {
    name: "cinder-csi",
    plain: "cinder-csi",
    options: [
      "storageCapacity=true",
      "pvcAnnotations=true",
      "csi.snapshotter.groupSnapshots=true",
      "secret.create=true",
      "secret.data=[Global]",
      "clouds.names={a,b}",
      "clouds.secrets={cloud-b}",
      // Values of upstream's chart.
      "csi.attacher.image.repository=registry.example.com/csi-attacher",
      "csi.attacher.image.tag=v4.12.0",
      "csi.attacher.image.pullPolicy=Always",
      "text: csi.provisioner.topology=true",
      "storageClass.delete.isDefault=true",
      "controllerPlugin.priorityClassName=system-cluster-critical",
      "volumeSnapshotClasses[0].name=snap",
      "volumeGroupSnapshotClasses[0].name=group",
      "volumeGroupSnapshotClasses[0].parameters.group-type=consistent",
    ],
    kinds: ["Secret", "VolumeSnapshotClass", "VolumeGroupSnapshotClass"],
    texts: [
      '"--cloud-name=b"',
      '"resources":["secrets"],"resourceNames":["cloud-b"],"verbs":["get"]',
      '"image":"registry.example.com/csi-attacher:v4.12.0","imagePullPolicy":"Always"',
      '"--feature-gates=Topology=true"',
    ],
    upgrade: ["storageClass.delete.isDefault=true", "pvcAnnotations=true"],
    rights: [
      {
        account: "csi-cinder-controller-sa",
        granted: ["create persistentvolumes", "patch volumeattachments.storage.k8s.io --subresource=status"],
        refused: ["list secrets", "create pods", "delete nodes"],
      },
      { account: "csi-cinder-node-sa", granted: [], refused: ["get nodes", "list secrets", "list persistentvolumes"] },
    ],
  },
  {
    name: "manila-csi",
    plain: "manila-csi",
    options: [
      "protocol=CEPHFS",
      "topologyAwarenessEnabled=true",
      "runtimeConfig=text",
      "volumeSnapshotClasses[0].name=snap",
    ],
    kinds: ["ConfigMap", "VolumeSnapshotClass"],
    upgrade: ["topologyAwarenessEnabled=true", "runtimeConfig=text"],
    rights: [
      {
        account: "openstack-manila-csi-controllerplugin",
        granted: ["create persistentvolumes"],
        refused: ["create pods", "delete nodes", "create secrets"],
      },
      { account: "openstack-manila-csi-nodeplugin", granted: [], refused: ["list secrets", "list nodes"] },
    ],
  },
  {
    name: "magnum-api",
    plain: "magnum-api",
    namespace: "causeway-system",
    crds: true,
    needed: ["keystone.url=https://identity.example.org/v3"],
    options: [
      "text: keystone.ca=-----BEGIN CERTIFICATE-----",
      "region=RegionOne",
      "publicUrl=https://magnum.example.org:9511",
      "tls.certificate=certificate",
      "tls.key=key",
      "policy.certificate:create=rule:admin_or_project_member",
      "auditUrl=https://audit.example.org/events",
      "controlPlaneRuntime=Pods",
      "managementCIDRs={192.0.2.0/24,198.51.100.0/24}",
      "rate=20",
      "limits.nodes=200",
      "trustees.domain=clusters",
      "trustees.roles={member,load-balancer_member}",
      "text: trustees.cloudsYaml=clouds: {}",
      "csiImage=registry.example.com/causeway:1",
      "podNetwork=routes",
      "probeKubelets=always",
      "service.type=LoadBalancer",
      "serviceMonitor.enabled=true",
    ],
    kinds: ["ConfigMap", "Secret", "ServiceMonitor"],
    texts: [
      '"--keystone-ca-file=/etc/magnum-api/config/keystone-ca.crt"',
      '"--policy-file=/etc/magnum-api/config/policy.yaml"',
      '"--management-cidrs=192.0.2.0/24,198.51.100.0/24"',
      '"--rate=20"',
      '"--max-nodes=200"',
      '"secretName":"magnum-api-serving"',
      '"--trustee-cloud=magnum","--trustee-domain=clusters","--trustee-roles=member,load-balancer_member"',
      '"name":"OS_CLIENT_CONFIG_FILE","value":"/etc/magnum-api/cloud/clouds.yaml"',
      '"secretName":"magnum-api-trustees"',
      '"--pod-network=routes","--csi-image=registry.example.com/causeway:1","--probe-kubelets=always"',
    ],
    upgrade: ["rate=20", "replicas=3", "tls.certificate=certificate", "tls.key=key"],
    rights: [
      {
        account: "magnum-api",
        granted: [
          "create magnumclusters.magnum.causeway.dev",
          "patch magnumclusters.magnum.causeway.dev --subresource=status",
          "create namespaces",
          "patch hostedcontrolplanes.controlplane.cluster.x-k8s.io",
          "update secrets",
          "get namespaces/kube-system",
        ],
        refused: [
          "delete secrets",
          "delete namespaces",
          "get namespaces/default",
          "create pods",
          "get pods --subresource=exec",
          "patch magnumquotas.magnum.causeway.dev",
          "delete hostedcontrolplanes.controlplane.cluster.x-k8s.io",
          "patch clusterroles.rbac.authorization.k8s.io",
        ],
      },
    ],
  },
  {
    name: "hosted-control-plane",
    plain: "hosted-control-plane",
    optional: ["api-gateway.yaml"],
    namespace: "causeway-system",
    crds: true,
    options: [
      "serviceKubeconfig=causeway-system/service-cluster",
      "owner=region-one",
      "registry=registry.example.com/kubernetes",
      "pool.members=1",
      "pool.storageClass=fast",
      "limits.size=Medium",
      "limits.replicas=3",
      "limits.storageClasses={fast,slow}",
      "limits.controlPlanes=20",
      "nodeNetworks={10.6.0.0/16,10.7.0.0/16}",
      "tunnel.url=https://tunnel-server.causeway-system.svc:8090",
      "text: tunnel.ca=-----BEGIN CERTIFICATE-----",
      "gateway.domain=api.example.org",
      "gateway.address=192.0.2.1",
      "shards=64",
      "serviceMonitor.enabled=true",
    ],
    kinds: ["ConfigMap", "Service", "ServiceMonitor"],
    texts: [
      '"--service-kubeconfig=causeway-system/service-cluster","--owner=region-one"',
      '"--pool-members=1","--pool-storage-class=fast","--max-size=Medium","--max-replicas=3"',
      '"--storage-classes=fast,slow","--max-control-planes=20","--node-networks=10.6.0.0/16,10.7.0.0/16"',
      '"--tunnel-ca-file=/etc/hosted-control-plane/tunnel-ca.crt"',
      '"--gateway-domain=api.example.org","--gateway-namespace=causeway-system","--gateway-address=192.0.2.1"',
      '"--shards=64"',
    ],
    upgrade: ["gateway.domain=api.example.org", "shards=64", "replicas=3"],
    rights: [
      {
        account: "hosted-control-plane",
        granted: [
          "patch hostedcontrolplanes.controlplane.cluster.x-k8s.io --subresource=status",
          "create namespaces",
          "update secrets",
          "create statefulsets.apps",
          "patch networkpolicies.networking.k8s.io",
        ],
        refused: [
          "delete hostedcontrolplanes.controlplane.cluster.x-k8s.io",
          "create pods",
          "get pods --subresource=exec",
          "delete persistentvolumeclaims",
          "patch clusters.cluster.x-k8s.io",
          "patch clusterroles.rbac.authorization.k8s.io",
        ],
      },
    ],
  },
];

/** Names on the command line: only these charts and folders of manifests. */
const chosen = process.argv.slice(2);
const isChosen = (name: string): boolean => chosen.length === 0 || chosen.includes(name);
const charts = everyChart.filter(({ name }) => isChosen(name));

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const keyOf = ({ kind, metadata }: Named) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;

function objectsOf(text: string): ReadonlyMap<string, Named> {
  const documents = parseAllDocuments(text, { merge: true });
  const broken = documents.flatMap(({ errors }) => errors.map(({ message }) => message));
  if (broken.length > 0) throw new Error(broken.join("\n"));
  const objects = documents.map((each) => each.toJS() as Named | null).filter((each) => each !== null);
  return new Map(objects.map((each) => [keyOf(each), each]));
}

function helm(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`helm ${args[0] ?? ""}: ${stderr}${stdout}`);
  return stdout;
}

/** The texts of the plain manifests in a folder below deploy. */
function manifestsOf(folder: string, without: readonly string[] = []): readonly string[] {
  const all = readdirSync(join(root, "deploy", folder)).filter((file) => file.endsWith(".yaml"));
  const files = all.filter((file) => !without.includes(file));
  return files.map((file) => readFileSync(join(root, "deploy", folder, file), "utf8"));
}

const othersThan = (folder: string, file: string): readonly string[] =>
  readdirSync(join(root, "deploy", folder)).filter((other) => other !== file);

/**
 * A static pod and a file of kube-apiserver's are put on a host; rules for Prometheus need its operator's CRDs
 * (test:alerts).
 */
const left = ["barbican-kms", "monitoring"];
const plainFolders = readdirSync(join(root, "deploy")).filter(
  (folder) => isChosen(folder) && !left.includes(folder) && manifestsOf(folder).length > 0,
);

/** Begins an option whose value is text, also where it looks like another type. */
const TEXT = "text: ";

/** What is wrong with the chart. */
function problemsOf(
  program: string,
  { name, plain, optional = [], namespace = NAMESPACE, needed = [], options, kinds, texts = [] }: Chart,
): readonly string[] {
  const folder = join(root, "deploy/charts", name);
  const set = (values: readonly string[]) =>
    values.flatMap((value) => (value.startsWith(TEXT) ? ["--set-string", value.slice(TEXT.length)] : ["--set", value]));
  const render = (values: readonly string[]) =>
    objectsOf(
      helm(program, [
        "template",
        "release",
        folder,
        "--namespace",
        namespace,
        "--kube-version",
        KUBERNETES,
        ...set(values),
      ]),
    );
  helm(program, ["lint", "--strict", folder, "--kube-version", KUBERNETES, ...set(needed)]);
  const own = render(needed);
  const all = render([...needed, ...options]);
  const missing = kinds.filter((kind) => ![...all.values()].some((each) => each.kind === kind));
  const text = JSON.stringify([...all.values()]);
  const problems = [
    ...missing.map((kind) => `no ${kind} with every option on`),
    ...texts.filter((each) => !text.includes(each)).map((each) => `no ${each} with every option on`),
  ];
  if (plain === undefined) return problems;
  const expected = new Map(objectsOf(manifestsOf(plain, optional).join("\n---\n")));
  // helm makes it with --create-namespace.
  expected.delete(`Namespace /${namespace}`);
  const names = [...new Set([...own.keys(), ...expected.keys()])];
  const different = names.filter((key) => !isDeepStrictEqual(own.get(key), expected.get(key)));
  for (const [key, object] of objectsOf(
    optional.flatMap((file) => manifestsOf(plain, othersThan(plain, file))).join("\n---\n"),
  ))
    if (!isDeepStrictEqual(all.get(key), object)) different.push(key);
  return [...problems, ...different.map((key) => `${key} is not as in deploy/${plain}`)];
}

const servers: readonly ServerName[] = ["kube-apiserver", "causeway"];

/** Every chart on the server: its name there, and what is wrong. */
async function installAll(
  server: ServerName,
  helm: string,
  kubernetes: string,
): Promise<[string, readonly string[]][]> {
  const { name, kubeconfig, dir, close } = await startServer(server);
  const stage = { helm, kubectl: join(kubernetes, "kubectl"), kubeconfig, dir };
  try {
    const results: [string, readonly string[]][] = [];
    // Whether rights on a custom resource are granted is known only where the server has it.
    const problems = charts.some(({ crds }) => crds) ? await definitionProblems(stage, join(root, "deploy/crds")) : [];
    if (problems.length > 0) results.push([`deploy/crds on ${name}`, problems]);
    for (const chart of charts) {
      const installed = { ...chart, needed: chart.needed ?? [], folder: join(root, "deploy/charts", chart.name) };
      results.push([`${chart.name} on ${name}`, await installProblems(stage, installed)]);
    }
    for (const folder of plainFolders) {
      results.push([`deploy/${folder} on ${name}`, await manifestProblems(stage, manifestsOf(folder))]);
    }
    return results;
  } finally {
    await close();
  }
}

function report(what: string, problems: readonly string[]): boolean {
  console.log([`${what}: ${problems.length === 0 ? "passed" : "failed"}`, ...problems].join("\n  "));
  return problems.length === 0;
}

async function main(): Promise<number> {
  const folder = join(root, "tools/helm");
  const all = charts.length * (1 + servers.length) + plainFolders.length * servers.length;
  const program = { name: "helm", source: `${MODULE}/cmd/helm`, flags: "-s -w" };
  const built = await buildMissing([program], folder, cached(`helm-${pinnedVersion(folder, MODULE)}`));
  if ("reason" in built) {
    console.log(`skipped: no helm here: ${built.reason}\n0 passed, 0 failed, ${all} skipped`);
    return 0;
  }
  const helm = join(built.dir, "helm");
  const results = charts.map((chart) => report(chart.name, problemsOf(helm, chart)));
  const kubernetes = await kubernetesBinaries(["etcd", "kube-apiserver", "kubectl"]);
  if ("reason" in kubernetes) console.log(`skipped: nothing to install on here: ${kubernetes.reason}`);
  else {
    process.env["CAUSEWAY_KUBERNETES_BINARIES"] = kubernetes.dir;
    for (const server of servers)
      for (const [what, problems] of await installAll(server, helm, kubernetes.dir))
        results.push(report(what, problems));
  }
  const passed = results.filter(Boolean).length;
  console.log(`${passed} passed, ${results.length - passed} failed, ${all - results.length} skipped`);
  return passed < results.length ? 1 : 0;
}

process.exitCode = await main();
