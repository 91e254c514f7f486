/** Our managers as one process next to the test, and a Cluster whose control plane is one Machine. */
import { join } from "node:path";
import { freePorts } from "../../support/free-ports.ts";
import { launch, type RunningProgram } from "../run.ts";
import { INFRASTRUCTURE } from "./infrastructure.ts";
import { openStackCluster } from "./openstack.ts";
import { nameOf, type Json } from "./world.ts";

export const CAUSEWAY = join(import.meta.dirname, "../../../node_modules/.bin/causeway");
const CORE = "cluster.x-k8s.io";

/** Cluster API and its OpenStack provider, both ours, with their CRDs, conversion and admission. */
export async function startOwn(kubeconfig: string): Promise<RunningProgram> {
  const [first = 0, second = 0] = await freePorts(2);
  const common = `--kubeconfig=${kubeconfig} --install-crds --leader-elect=false --log-level=info`;
  const running = launch(CAUSEWAY, [
    "run",
    "several",
    `cluster-api ${common} --webhook-port=${first} --diagnostics-port=0`,
    `cluster-api-openstack ${common} --webhook-port=${second} --health-addr=0 --diagnostics-address=0`,
  ]);
  await running.until(/OpenStackMachine\.infrastructure/, 300_000);
  return running;
}

interface OwnCluster {
  readonly name: string;
  /** A clouds.yaml, and its entry. */
  readonly clouds: string;
  readonly cloud: string;
  /** Of the workload cluster. */
  readonly kubeconfig: string;
  readonly authority: { readonly certificate: string; readonly key: string };
  readonly replicas: number;
  /** Of the MachineDeployment. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The template's Cluster with a Machine of its own in place of its KubeadmControlPlane. */
export function ownCluster(asked: OwnCluster): readonly Json[] {
  const { name, kubeconfig, authority, replicas, annotations = {}, ...cloud } = asked;
  const secret = (suffix: string, data: Json): Json => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `${name}-${suffix}`, labels: { [`${CORE}/cluster-name`]: name } },
    type: "cluster.x-k8s.io/secret",
    stringData: data,
  });
  const access = [
    secret("kubeconfig", { value: kubeconfig }),
    secret("ca", { "tls.crt": authority.certificate, "tls.key": authority.key }),
  ];
  const rest = openStackCluster({ name, ...cloud }).flatMap((object): Json[] => {
    const spec = object["spec"] as Json;
    if (object["kind"] === "KubeadmControlPlane") return controlPlane(name, String(spec["version"]));
    if (object["kind"] === "OpenStackMachineTemplate" && nameOf(object).endsWith("-control-plane")) return [];
    if (object["kind"] === "Cluster") {
      const { controlPlaneRef: _, ...kept } = spec;
      return [{ ...object, spec: kept }];
    }
    if (object["kind"] !== "MachineDeployment") return [object];
    return [{ ...object, metadata: { name: nameOf(object), annotations }, spec: { ...spec, replicas } }];
  });
  return [...access, ...rest];
}

/** With bootstrap data that a person wrote, which is part of a move by its label. */
function controlPlane(cluster: string, version: string): Json[] {
  const name = `${cluster}-control-plane`;
  const labels = { [`${CORE}/cluster-name`]: cluster };
  const metadata = { name, labels: { ...labels, [`${CORE}/control-plane`]: "" } };
  return [
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, labels: { ...labels, "clusterctl.cluster.x-k8s.io/move": "true" } },
      stringData: { value: "#cloud-config" },
    },
    {
      apiVersion: `${INFRASTRUCTURE}/v1beta1`,
      kind: "OpenStackMachine",
      metadata,
      spec: { flavor: "m1.small", image: { filter: { name: "cirros" } } },
    },
    {
      apiVersion: `${CORE}/v1beta2`,
      kind: "Machine",
      metadata,
      spec: {
        clusterName: cluster,
        version,
        bootstrap: { dataSecretName: name },
        infrastructureRef: { apiGroup: INFRASTRUCTURE, kind: "OpenStackMachine", name },
      },
    },
  ];
}
