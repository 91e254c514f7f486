/** Argo CD in a management cluster: its CRDs, settings and project, and its programs as children of the test. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigMap, CustomResourceDefinition, Namespace, Secret, type KubernetesClient } from "@causeway/kubernetes";
import { parse } from "yaml";
import { freePorts } from "../../support/free-ports.ts";
import { launch, type RunningProgram } from "../run.ts";

export interface ArgoOptions {
  /** Where the programs are. */
  readonly programs: string;
  /** A folder of its own. */
  readonly dir: string;
  readonly client: KubernetesClient;
  /** Of an administrator of the management cluster. */
  readonly kubeconfig: string;
  readonly namespace: string;
}

const AppProject = {
  group: "argoproj.io",
  version: "v1alpha1",
  kind: "AppProject",
  plural: "appprojects",
  namespaced: true,
};

/** What Argo CD's own manifests install, its permissions excluded: it runs as an administrator. */
async function prepare({ client, programs, namespace }: ArgoOptions): Promise<void> {
  for (const file of ["application-crd.yaml", "appproject-crd.yaml", "applicationset-crd.yaml"]) {
    const crd = parse(readFileSync(join(programs, "crds", file), "utf8")) as CustomResourceDefinition;
    await client.apply(CustomResourceDefinition, crd, { fieldManager: "install" });
  }
  const labels = { "addons.causeway.dev/argo-cd": "true" };
  await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } });
  const part = { "app.kubernetes.io/part-of": "argocd" };
  for (const name of ["argocd-cm", "argocd-rbac-cm"])
    await client.create(ConfigMap, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace, name, labels: part },
    });
  const data = { "server.secretkey": Buffer.from("key of sessions").toString("base64") };
  const metadata = { namespace, name: "argocd-secret", labels: part };
  await client.create(Secret, { apiVersion: "v1", kind: "Secret", metadata, data });
  for (let i = 0; ; i++) {
    try {
      await client.create(AppProject, {
        apiVersion: "argoproj.io/v1alpha1",
        kind: "AppProject",
        metadata: { namespace, name: "default" },
        spec: {
          sourceRepos: ["*"],
          destinations: [{ namespace: "*", server: "*" }],
          clusterResourceWhitelist: [{ group: "*", kind: "*" }],
        },
      } as never);
      return;
    } catch (error) {
      // A CRD is served a moment after it was created.
      if (i === 100) throw error;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

/** Starts Redis, the repository server and the application controller. */
export async function startArgo(options: ArgoOptions): Promise<{ output(): string; stop(): Promise<void> }> {
  await prepare(options);
  const { programs, dir, namespace } = options;
  for (const folder of ["tls", "ssh", "gpg", "tmp"]) mkdirSync(join(dir, folder), { recursive: true });
  writeFileSync(join(dir, "kubeconfig"), options.kubeconfig, { mode: 0o600 });
  writeFileSync(join(dir, "ssh/ssh_known_hosts"), "");
  const [redis, repository, repositoryMetrics, controllerMetrics] = await freePorts(4);
  const env = {
    ARGOCD_FAKE_IN_CLUSTER: "true",
    ARGOCD_GPG_ENABLED: "false",
    ARGOCD_TLS_DATA_PATH: join(dir, "tls"),
    ARGOCD_SSH_DATA_PATH: join(dir, "ssh"),
    ARGOCD_ASK_PASS_SOCK: join(dir, "ask-pass.sock"),
    TMPDIR: join(dir, "tmp"),
    HOME: dir,
    GOMEMLIMIT: "512MiB",
  };
  const argo = join(programs, "argo");
  const cache = ["--redis", `127.0.0.1:${redis}`];
  const running: RunningProgram[] = [];
  const start = (args: readonly string[]): void => void running.push(launch(argo, args, { env }));
  start(["redis", `127.0.0.1:${redis}`]);
  const local = ["--address", "127.0.0.1", "--metrics-address", "127.0.0.1"];
  const ports = ["--port", String(repository), "--metrics-port", String(repositoryMetrics)];
  // A revision that was resolved is requested again at once: a commit is seen at the next refresh.
  start(["argocd-repo-server", "--disable-tls", "--revision-cache-expiration", "1s", ...local, ...ports, ...cache]);
  const server = ["--repo-server", `127.0.0.1:${repository}`, "--repo-server-plaintext"];
  const where = ["--kubeconfig", join(dir, "kubeconfig"), "--namespace", namespace];
  const more = ["--metrics-port", String(controllerMetrics), "--self-heal-timeout-seconds", "1"];
  start(["argocd-application-controller", ...server, ...where, ...more, ...cache]);
  return {
    output: () => running.map((each) => each.output().slice(-4_000)).join("\n"),
    async stop() {
      await Promise.all(running.toReversed().map((each) => each.stop()));
    },
  };
}
