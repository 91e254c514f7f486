import { expect } from "vitest";
import type { Answer, CaseGroup, ContractCase, Json } from "../interface.ts";

/** The spec of a pod of which this is odd, and what is warned of: "P" represents the path of the spec. */
interface Oddity {
  readonly name: string;
  readonly spec?: Json;
  readonly container?: Json;
  readonly annotations?: Json;
  readonly warnings: readonly string[];
}

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const SECCOMP = "seccomp.security.alpha.kubernetes.io/pod";
const files = (...paths: readonly string[]): Json[] => paths.map((path) => ({ key: "k", path }));
const NONE = "a null labelSelector results in matching no pod";

const ODDITIES: readonly Oddity[] = [
  {
    name: "deprecated node labels",
    spec: {
      nodeSelector: { "beta.kubernetes.io/os": "x" },
      affinity: {
        nodeAffinity: {
          [REQUIRED]: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: "beta.kubernetes.io/arch", operator: "Exists" }] }],
          },
          [PREFERRED]: [
            { weight: 1, preference: { matchExpressions: [{ key: "a", operator: "In", values: ["no good"] }] } },
          ],
        },
        podAffinity: { [REQUIRED]: [{ topologyKey: "x" }] },
      },
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "x", whenUnsatisfiable: "DoNotSchedule" }],
    },
    warnings: [
      'P.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
      `P.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead`,
      `P.affinity.nodeAffinity.${PREFERRED}[0].preference.matchExpressions[0].values[0]: no good is invalid, a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
      `P.topologySpreadConstraints[0].labelSelector: ${NONE}`,
      `P.affinity.podAffinity.${REQUIRED}[0].labelSelector: ${NONE}`,
    ],
  },
  {
    name: "annotations without effect",
    annotations: { "security.alpha.kubernetes.io/sysctls": "a", [SECCOMP]: "unconfined" },
    warnings: [
      'Mannotations[security.alpha.kubernetes.io/sysctls]: non-functional in v1.11+; use the "sysctls" field instead',
      `Mannotations[${SECCOMP}]: non-functional in v1.27+; use the "seccompProfile" field instead`,
    ],
  },
  {
    name: "removed volume types and conflicting paths in volumes",
    spec: {
      volumes: [
        { name: "v", configMap: { name: "m", items: files("x", "x/y") } },
        { name: "w", glusterfs: { endpoints: "e", path: "p" } },
        {
          name: "p",
          projected: {
            sources: [{ secret: { name: "s", items: files("d/f") } }, { configMap: { name: "c", items: files("d") } }],
          },
        },
      ],
    },
    warnings: [
      "P.volumes[1].glusterfs: deprecated in v1.25, non-functional in v1.26+",
      'volume "v" (ConfigMap "m"): overlapping paths: "x/y" with "x"',
      'volume "p" (Projected): overlapping paths: "d" (ConfigMap "c") with "d/f" (Secret "s")',
    ],
  },
  {
    name: "duplicate pull secrets and environment variables",
    spec: {
      hostAliases: [
        { ip: "192.0.2.1", hostnames: ["a"] },
        { ip: "192.0.2.1", hostnames: ["b"] },
      ],
      imagePullSecrets: [{ name: "a" }, { name: "b" }],
    },
    container: {
      env: [
        { name: "A", value: "1" },
        { name: "A", value: "2" },
        { name: "A", value: "$(A)3" },
      ],
    },
    warnings: [
      'P.hostAliases[1].ip: duplicate ip "192.0.2.1"',
      'P.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    ],
  },
  {
    name: "fractions of bytes and probes without ports",
    container: {
      resources: { requests: { memory: "0.5" } },
      ports: [{ containerPort: 80, hostIP: "10.0.0.1" }],
    },
    warnings: [
      'P.containers[0].resources.requests[memory]: fractional byte value "500m" is invalid, must be an integer',
      "P.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:10.0.0.1}",
    ],
  },
];

function warningsOf({ headers }: Answer): string[] {
  const header = [headers["warning"]].flat().join(", ");
  return [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => text.replaceAll("\\", ""));
}

function caseOf({ name, spec, container, annotations, warnings }: Oddity): ContractCase {
  const body = { ...spec, containers: [{ name: "c", image: "i", ...container }], automountServiceAccountToken: false };
  const metadata = annotations === undefined ? {} : { annotations };
  const at = (path: string): string[] =>
    warnings.map((w) => w.replace(/^P\./, `${path}spec.`).replace(/^M/, `${path}metadata.`)).toSorted();
  return {
    name: `a pod and a pod template get warnings: ${name}`,
    async run({ api, core, apis }) {
      const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
      await api.post(core("serviceaccounts"), account);
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", ...metadata }, spec: body };
      expect(warningsOf(await api.post(core("pods"), pod)).toSorted()).toEqual(at(""));
      const template = { metadata: { labels: { a: "b" }, ...metadata }, spec: body };
      const set = { selector: { matchLabels: { a: "b" } }, template };
      const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec: set };
      expect(warningsOf(await api.post(apis("apps/v1", "deployments"), deployment)).toSorted()).toEqual(
        at("spec.template."),
      );
    },
  };
}

export const podWarnings: CaseGroup = {
  title: "warnings about pods",
  cases: [
    ...ODDITIES.map(caseOf),
    {
      name: "a Job whose name is no DNS label gets a warning",
      async run({ api, apis }) {
        const template = { spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" } };
        const body = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "a.b" }, spec: { template } };
        expect(warningsOf(await api.post(apis("batch/v1", "jobs"), body))).toEqual([
          "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
        ]);
      },
    },
  ],
};
