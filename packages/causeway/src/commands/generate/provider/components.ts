import { infrastructureKinds, toCustomResourceDefinition, withConversionWebhook, type Kind } from "@causeway/api";
import { clusterApiRules, type Related } from "@causeway/cluster-api";
import { openStackRules } from "@causeway/cluster-api-openstack";
import type { AdmissionRules, KubeObject } from "@causeway/kubernetes";
import { admissionConfigurations, type AdmissionKind } from "../../run/cluster-api/admission.ts";
import { kindsOf } from "../../run/cluster-api/providers.ts";
import { CONVERT_PATH } from "../../run/serving/conversion.ts";
import { clusterTemplates } from "./cluster-templates.ts";
import { bootstrapRules, controlPlaneRules, coreRules, infrastructureRules } from "./rules.ts";

/** A provider as clusterctl knows it. */
export interface Release {
  readonly kinds: readonly Kind<KubeObject>[];
  /** The arguments of its manager. */
  readonly args: readonly string[];
  /** Where its health is requested. */
  readonly health: { readonly scheme: "HTTP" | "HTTPS"; readonly port: "healthz" | "metrics" };
  /** Its name in `clusterctl init`, and the type of its entry in clusterctl's configuration. */
  readonly provider: string;
  readonly type: string;
  /** Value of the label cluster.x-k8s.io/provider. */
  readonly label: string;
  readonly file: string;
  /** What the names of its objects begin with. */
  readonly prefix: string;
  readonly rules: readonly object[];
  /** What its webhook judges writes by. */
  readonly admission: AdmissionRules;
  /** More files of the release: objects with variables of clusterctl. */
  readonly templates?: Readonly<Record<string, readonly object[]>>;
}

/** Manifests name what is judged; nothing is judged while they are made. */
const unread: Related = {
  class: () => Promise.resolve(undefined),
  users: () => Promise.resolve([]),
  controlPlane: () => Promise.resolve(undefined),
};

const ofCore = (name: Parameters<typeof kindsOf>[0]) =>
  ({
    kinds: kindsOf(name),
    args: ["run", "cluster-api", `--providers=${name}`],
    health: { scheme: "HTTPS", port: "metrics" },
    admission: clusterApiRules(unread),
  }) as const;

/** The four providers that `causeway generate provider` writes files for. */
export const releases: readonly Release[] = [
  {
    ...ofCore("core"),
    provider: "cluster-api",
    type: "CoreProvider",
    label: "cluster-api",
    file: "core-components.yaml",
    prefix: "capi",
    rules: coreRules,
  },
  {
    ...ofCore("bootstrap"),
    provider: "kubeadm",
    type: "BootstrapProvider",
    label: "bootstrap-kubeadm",
    file: "bootstrap-components.yaml",
    prefix: "capi-kubeadm-bootstrap",
    rules: bootstrapRules,
  },
  {
    ...ofCore("control-plane"),
    provider: "kubeadm",
    type: "ControlPlaneProvider",
    label: "control-plane-kubeadm",
    file: "control-plane-components.yaml",
    prefix: "capi-kubeadm-control-plane",
    rules: controlPlaneRules,
  },
  {
    kinds: infrastructureKinds,
    args: ["run", "cluster-api-openstack"],
    health: { scheme: "HTTP", port: "healthz" },
    admission: openStackRules(),
    provider: "openstack",
    type: "InfrastructureProvider",
    label: "infrastructure-openstack",
    file: "infrastructure-components.yaml",
    prefix: "capo",
    rules: infrastructureRules,
    templates: clusterTemplates,
  },
];

const certificates = "/tmp/k8s-webhook-server/serving-certs";

/**
 * The manifests of a provider, in the form that clusterctl requires: one Namespace, a container named manager,
 * certificates of cert-manager.
 */
export function componentsOf(release: Release, image: string): object[] {
  const { prefix, label, rules } = release;
  const namespace = `${prefix}-system`;
  const labels = { "cluster.x-k8s.io/provider": label };
  const named = (apiVersion: string, kind: string, name: string, rest: object): object => ({
    apiVersion,
    kind,
    metadata: { name: `${prefix}-${name}`, namespace, labels },
    ...rest,
  });
  const global = (apiVersion: string, kind: string, name: string, rest: object): object => ({
    apiVersion,
    kind,
    metadata: { name: `${prefix}-${name}`, labels },
    ...rest,
  });
  const subjects = [{ kind: "ServiceAccount", name: `${prefix}-manager`, namespace }];
  const service = `${prefix}-webhook-service`;
  const dnsNames = [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.cluster.local`];
  const secretName = `${prefix}-webhook-service-cert`;
  const rbac = "rbac.authorization.k8s.io/v1";
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } },
    ...definitionsOf(release, { namespace, service }),
    ...admissionOf(release, { namespace, service, labels }),
    named("v1", "ServiceAccount", "manager", {}),
    global(rbac, "ClusterRole", "manager-role", { rules }),
    // Rights that a provider of infrastructure gives to Cluster API.
    global(rbac, "ClusterRole", "aggregated-manager-role", {
      aggregationRule: {
        clusterRoleSelectors: [{ matchLabels: { "cluster.x-k8s.io/aggregate-to-manager": "true" } }],
      },
      rules: [],
    }),
    ...["manager", "aggregated-manager"].map((role) =>
      global(rbac, "ClusterRoleBinding", `${role}-rolebinding`, {
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: `${prefix}-${role}-role` },
        subjects,
      }),
    ),
    named("v1", "Service", "webhook-service", {
      spec: { ports: [{ port: 443, targetPort: "webhook-server" }], selector: labels },
    }),
    named("cert-manager.io/v1", "Issuer", "selfsigned-issuer", { spec: { selfSigned: {} } }),
    named("cert-manager.io/v1", "Certificate", "serving-cert", {
      spec: { dnsNames, issuerRef: { kind: "Issuer", name: `${prefix}-selfsigned-issuer` }, secretName },
    }),
    named("apps/v1", "Deployment", "controller-manager", { spec: workload(release, { image, labels, secretName }) }),
  ];
}

function definitionsOf(
  { kinds, prefix }: Release,
  at: { readonly namespace: string; readonly service: string },
): object[] {
  return kinds.map((kind) => {
    const service = { namespace: at.namespace, name: at.service, path: CONVERT_PATH };
    const crd = withConversionWebhook(toCustomResourceDefinition(kind), { service });
    const annotations = { "cert-manager.io/inject-ca-from": `${at.namespace}/${prefix}-serving-cert` };
    return { ...crd, metadata: { ...crd.metadata, annotations } };
  });
}

const WEBHOOK_NAMES: Readonly<Record<AdmissionKind, string>> = {
  MutatingWebhookConfiguration: "mutating-webhook-configuration",
  ValidatingWebhookConfiguration: "validating-webhook-configuration",
};

/** The webhooks with the provider's defaults and rules, for those of its kinds that have some. */
function admissionOf(
  { kinds, prefix, admission }: Release,
  at: { readonly namespace: string; readonly service: string; readonly labels: Readonly<Record<string, string>> },
): object[] {
  const reached = (path: string) => ({ service: { namespace: at.namespace, name: at.service, path } });
  const made = admissionConfigurations(
    { kinds, rules: admission, at: reached },
    (kind) => `${prefix}-${WEBHOOK_NAMES[kind]}`,
  );
  const annotations = { "cert-manager.io/inject-ca-from": `${at.namespace}/${prefix}-serving-cert` };
  return made.map((one) => ({ ...one, metadata: { name: one.metadata.name, labels: at.labels, annotations } }));
}

function workload(
  { prefix, args, health }: Release,
  on: { readonly image: string; readonly labels: Readonly<Record<string, string>>; readonly secretName: string },
): object {
  const probe = (path: string) => ({ httpGet: { scheme: health.scheme, path, port: health.port } });
  const container = {
    name: "manager",
    image: on.image,
    args: [...args, `--webhook-cert-dir=${certificates}`, "--leader-elect"],
    env: [{ name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } }],
    ports: [
      { name: "webhook-server", containerPort: 9443 },
      { name: "metrics", containerPort: 8443 },
      ...(health.port === "healthz" ? [{ name: "healthz", containerPort: 9440 }] : []),
    ],
    livenessProbe: probe("/healthz"),
    readinessProbe: probe("/readyz"),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [{ name: "cert", mountPath: certificates, readOnly: true }],
  };
  return {
    replicas: 1,
    selector: { matchLabels: on.labels },
    template: {
      metadata: { labels: on.labels },
      spec: {
        serviceAccountName: `${prefix}-manager`,
        securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
        containers: [container],
        volumes: [{ name: "cert", secret: { secretName: on.secretName, defaultMode: 288 } }],
      },
    },
  };
}
