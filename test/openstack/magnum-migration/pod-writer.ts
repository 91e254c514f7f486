/**
 * A pod that writes objects one after the other by the address of Service kubernetes, which leads nowhere on a node
 * without kube-proxy. A drained one is replaced by another.
 */
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { ConfigMap, Pod, type KubernetesClient } from "@causeway/kubernetes";
import { eventually } from "../../support/processes.ts";
import { AGNHOST } from "./tickers.ts";

const TIMEOUT = 600_000;
const NAME = "pod-writer";
const labels = { app: NAME };
const metadata = { namespace: "default", name: NAME };
const written = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"'"$HOSTNAME-$n"'","labels":{"by":"${NAME}"}}}`;
/** It continues with the next object once this one exists, also when the response to its creation was lost. */
const SCRIPT = `n=0
while :; do
  if echo '${written}' | timeout 20 /bin/kubectl create --raw /api/v1/namespaces/default/configmaps -f - 2>&1 |
    grep -q -e '"kind":"ConfigMap"' -e AlreadyExists -e 'already exists'
  then n=$((n+1)); fi
  sleep 1
done`;

export interface PodWriter {
  /** Waits for another write; where it runs by then, and how much is written by all. */
  nextWrite(): Promise<{ readonly node: string; readonly written: number }>;
  /** Numbers that were skipped. */
  lost(): Promise<readonly string[]>;
}

export async function startPodWriter(client: KubernetesClient): Promise<PodWriter> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }];
  await client.request("POST", `${rbac}/roles`, {
    body: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata, rules },
  });
  await client.request("POST", `${rbac}/rolebindings`, {
    body: {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: NAME },
      subjects: [{ kind: "ServiceAccount", namespace: "default", name: "default" }],
    },
  });
  const spec = podWithKubectl(SCRIPT);
  await client.request("POST", "/apis/apps/v1/namespaces/default/deployments", {
    body: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
  });
  const names = async (): Promise<readonly string[]> => {
    const { items } = await client.list(ConfigMap, { namespace: "default", labelSelector: `by=${NAME}` });
    return items.map((one) => one.metadata.name);
  };
  return {
    async nextWrite() {
      const before = new Set(await names());
      return eventually(TIMEOUT, async () => {
        const now = await names();
        const fresh = now.find((name) => !before.has(name));
        const { items } = await client.list(Pod, { namespace: "default", labelSelector: `app=${NAME}` });
        const pod = items.find((one) => fresh?.startsWith(`${one.metadata.name}-`));
        return pod?.spec?.nodeName === undefined ? undefined : { node: pod.spec.nodeName, written: now.length };
      });
    },
    async lost() {
      const there = new Set(await names());
      const most = new Map<string, number>();
      for (const name of there) {
        const at = name.lastIndexOf("-");
        const [pod, number] = [name.slice(0, at), Number(name.slice(at + 1))];
        most.set(pod, Math.max(most.get(pod) ?? 0, number));
      }
      return [...most].flatMap(([pod, last]) =>
        Array.from({ length: last }, (_, number) => `${pod}-${number}`).filter((name) => !there.has(name)),
      );
    },
  };
}

/** The spec of a pod that runs a script of the shell with kubectl, as service account default of its namespace. */
export function podWithKubectl(script: string) {
  // Machines of the tests have this host's programs.
  const kubectl = realpathSync(pathOf("kubectl"));
  const mount = { name: "kubectl", mountPath: "/bin/kubectl", readOnly: true };
  const container = {
    name: "main",
    image: AGNHOST,
    imagePullPolicy: "Never",
    command: ["sh", "-c", script],
    volumeMounts: [mount],
  };
  return {
    containers: [container],
    terminationGracePeriodSeconds: 1,
    volumes: [{ name: "kubectl", hostPath: { path: kubectl, type: "File" } }],
  };
}

const pathOf = (program: string): string =>
  spawnSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).stdout.trim();
