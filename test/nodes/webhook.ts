import { readFileSync } from "node:fs";
import { createAuthority, issueCertificate, type KeyPair } from "@causeway/foundation";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { IMAGE, type Rig } from "./rig.ts";

const NAME = "hook";
const PORT = 8443;
const DAY = 86_400_000;
const labels = { app: NAME };
/** What the webhook of Kubernetes' agnhost denies. */
export const DENIED = { "webhook-e2e-test": "webhook-disallow" };
/** ConfigMaps of the first namespace are judged by the webhook, those of the second by none. */
export const [JUDGED, PLAIN] = ["judged", "plain"];

/** A webhook whose Service and pod are in the cluster. */
export interface Webhook {
  /** Has the API server believe another authority in the webhook's certificate. */
  believe(authority: KeyPair): void;
  /** The one that signed the certificate of the webhook. */
  readonly authority: KeyPair;
}

/** Runs a webhook for ConfigMaps of one namespace, which must respond. */
export async function startWebhook(rig: Rig): Promise<Webhook> {
  const authority = await createAuthority({ commonName: "webhook-ca", lifetime: DAY });
  const service = { namespace: "default", name: NAME, path: "/configmaps" };
  const host = `${NAME}.${service.namespace}.svc`;
  const pair = await issueCertificate(authority, {
    commonName: host,
    dnsNames: [host],
    lifetime: DAY,
    usages: ["server"],
  });
  for (const name of [JUDGED, PLAIN])
    rig.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { webhook: name ?? "" } } });
  rig.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: NAME },
    stringData: { "tls.crt": pair.certificate, "tls.key": pair.key },
  });
  const files = ["--tls-cert-file=/tls/tls.crt", "--tls-private-key-file=/tls/tls.key"];
  const container = {
    name: "main",
    image: IMAGE,
    args: ["webhook", ...files, `--port=${PORT}`],
    readinessProbe: { httpGet: { scheme: "HTTPS", path: "/readyz", port: PORT }, periodSeconds: 1 },
    volumeMounts: [{ name: "tls", mountPath: "/tls" }],
  };
  const volumes = [{ name: "tls", secret: { secretName: NAME } }];
  rig.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: NAME, labels },
    spec: { containers: [container], volumes },
  });
  const ports = [{ port: 443, targetPort: PORT }];
  rig.apply({ apiVersion: "v1", kind: "Service", metadata: { name: NAME }, spec: { selector: labels, ports } });
  rig.workload("wait", `pod/${NAME}`, "--for=condition=Ready", "--timeout=600s");
  const believe = ({ certificate }: KeyPair): void =>
    rig.apply({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: NAME },
      webhooks: [
        {
          name: "configmaps.causeway.invalid",
          clientConfig: { service, caBundle: Buffer.from(certificate).toString("base64") },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
          namespaceSelector: { matchLabels: { webhook: JUDGED ?? "" } },
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          failurePolicy: "Fail",
        },
      ],
    });
  believe(authority);
  return { believe, authority };
}

/** A client of the cluster's API with connections of its own. */
export function apiClient(rig: Rig): KubernetesClient {
  return createClient(loadKubeconfig({ text: readFileSync(rig.kubeconfig, "utf8") }));
}

/** Creates a ConfigMap as a dry run: admission judges it, and nothing is stored. */
export async function tryConfigMap(client: KubernetesClient, namespace = "", data: object = {}): Promise<void> {
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "tried" }, data };
  await client.request("POST", `/api/v1/namespaces/${namespace}/configmaps`, { query: { dryRun: "All" }, body });
}

/** Milliseconds of the middle one of so many calls with the webhook, and of as many without it, in turns. */
export async function middleOf(client: KubernetesClient, calls: number): Promise<{ judged: number; plain: number }> {
  const times = { judged: [] as number[], plain: [] as number[] };
  for (let i = 0; i < calls; i += 1)
    for (const [kind, namespace] of [
      ["judged", JUDGED],
      ["plain", PLAIN],
    ] as const) {
      const start = performance.now();
      await tryConfigMap(client, namespace);
      times[kind].push(performance.now() - start);
    }
  const middle = (all: number[]) => all.toSorted((a, b) => a - b)[Math.floor(calls / 2)] ?? 0;
  return { judged: middle(times.judged), plain: middle(times.plain) };
}
