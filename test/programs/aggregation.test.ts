/**
 * Kubernetes' own extension API server (k8s.io/sample-apiserver) behind our aggregation layer and behind
 * kube-apiserver's: the same cases on both. Its Service is an ExternalName, which both layers reach without a service
 * network.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority, issueCertificate, systemClock } from "@causeway/foundation";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startEmbedded } from "../contracts/kubernetes/embedded.ts";
import type { Target } from "../contracts/kubernetes/interface.ts";
import { startKubeApiserver } from "../contracts/kubernetes/kube-apiserver.ts";
import { freePorts } from "../support/free-ports.ts";
import { programs } from "./programs.ts";
import { execute, launch, type RunningProgram } from "./run.ts";
import { administrator } from "./servers.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

const DAY = 86_400_000;
const GROUP = "wardle.example.com";

function missing(): string | undefined {
  const { kubernetes, kubectls } = programs();
  if ("reason" in kubernetes) return kubernetes.reason;
  if (!existsSync(join(kubernetes.dir, "sample-apiserver"))) return "sample-apiserver is not built";
  return kubectls.length === 0 ? "there is no kubectl" : undefined;
}

async function start(name: string, dir: string): Promise<Target> {
  if (name === "causeway") return startEmbedded();
  const root = await createAuthority({ commonName: "front-proxy-ca", lifetime: DAY });
  const issued = await issueCertificate(root, { commonName: "front-proxy-client", usages: ["client"], lifetime: DAY });
  const file = (as: string, content: string): string => {
    writeFileSync(join(dir, as), content, { mode: 0o600 });
    return join(dir, as);
  };
  return startKubeApiserver({
    flags: [
      `--requestheader-client-ca-file=${file("proxy-ca.crt", root.certificate)}`,
      "--requestheader-allowed-names=front-proxy-client",
      "--requestheader-username-headers=X-Remote-User",
      "--requestheader-group-headers=X-Remote-Group",
      "--requestheader-extra-headers-prefix=X-Remote-Extra-",
      `--proxy-client-cert-file=${file("proxy.crt", issued.certificate)}`,
      `--proxy-client-key-file=${file("proxy.key", issued.key)}`,
    ],
  });
}

for (const name of ["causeway", "kube-apiserver"])
  describe(`an extension API server behind ${name}`, () => {
    const reason = missing();
    if (reason !== undefined) {
      test.skip(`sample-apiserver (${reason})`);
      return;
    }
    const { kubernetes, kubectls } = programs();
    const binaries = "dir" in kubernetes ? kubernetes.dir : "";
    const dir = mkdtempSync(join(tmpdir(), "aggregation-"));
    const running: RunningProgram[] = [];
    const kubeconfig = join(dir, "kubeconfig");
    let target: Target | undefined;
    let extension: RunningProgram;

    const kubectl = async (args: readonly string[], input?: string) => {
      const options = input === undefined ? {} : { input };
      return execute(
        kubectls[0] ?? "",
        ["--kubeconfig", kubeconfig, "--cache-dir", join(dir, "cache"), ...args],
        options,
      );
    };
    const apply = async (...objects: object[]) => {
      const list = { apiVersion: "v1", kind: "List", items: objects };
      const { code, stderr } = await kubectl(["apply", "-f", "-"], JSON.stringify(list));
      expect({ code, stderr }).toMatchObject({ code: 0 });
    };
    const until = async <T>(check: () => Promise<T | undefined>): Promise<T> => {
      for (let i = 0; i < 600; i++) {
        const found = await check();
        if (found !== undefined) return found;
        await systemClock.sleep(200);
      }
      throw new Error(`not in time; the extension server printed:\n${extension.output().slice(-4_000)}`);
    };

    beforeAll(async () => {
      target = await start(name, dir);
      writeFileSync(kubeconfig, await administrator(target), { mode: 0o600 });
      const [etcd = 0, peer = 0, port = 0] = await freePorts(3);
      const urls = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${peer}`];
      running.push(
        launch(join(binaries, "etcd"), [
          `--data-dir=${join(dir, "etcd")}`,
          "--name=default",
          `--listen-client-urls=${urls[0]}`,
          `--advertise-client-urls=${urls[0]}`,
          `--listen-peer-urls=${urls[1]}`,
          `--initial-advertise-peer-urls=${urls[1]}`,
          `--initial-cluster=default=${urls[1]}`,
          "--unsafe-no-fsync",
          "--log-level=error",
        ]),
      );
      const authority = await createAuthority({ commonName: "wardle-ca", lifetime: DAY });
      const served = { commonName: "wardle", dnsNames: ["api.wardle.svc"], usages: ["server"] as const, lifetime: DAY };
      const { certificate, key } = await issueCertificate(authority, served);
      writeFileSync(join(dir, "tls.crt"), certificate);
      writeFileSync(join(dir, "tls.key"), key, { mode: 0o600 });
      const configs = ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"];
      extension = launch(join(binaries, "sample-apiserver"), [
        `--etcd-servers=${urls[0]}`,
        "--bind-address=127.0.0.1",
        `--secure-port=${port}`,
        `--tls-cert-file=${join(dir, "tls.crt")}`,
        `--tls-private-key-file=${join(dir, "tls.key")}`,
        ...configs.map((flag) => `--${flag}=${kubeconfig}`),
      ]);
      running.push(extension);
      const meta = { name: "api", namespace: "wardle" };
      await apply(
        { apiVersion: "v1", kind: "Namespace", metadata: { name: "wardle" } },
        {
          apiVersion: "v1",
          kind: "Service",
          metadata: meta,
          spec: { type: "ExternalName", externalName: "localhost", ports: [{ port, protocol: "TCP" }] },
        },
        ...["v1alpha1", "v1beta1"].map((version) => ({
          apiVersion: "apiregistration.k8s.io/v1",
          kind: "APIService",
          metadata: { name: `${version}.${GROUP}` },
          spec: {
            group: GROUP,
            version,
            groupPriorityMinimum: 1000,
            versionPriority: version === "v1beta1" ? 20 : 15,
            service: { ...meta, port },
            caBundle: Buffer.from(authority.certificate).toString("base64"),
          },
        })),
        {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRole",
          metadata: { name: "reader" },
          rules: [{ apiGroups: [GROUP], resources: ["flunders"], verbs: ["get", "list", "watch"] }],
        },
        {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRoleBinding",
          metadata: { name: "reader" },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
          subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
        },
      );
    }, 240_000);
    afterAll(async () => {
      await Promise.all(running.map((each) => each.stop()));
      await target?.close();
      rmSync(dir, { recursive: true, force: true });
    });

    test("becomes available, and kubectl finds its resources", { timeout: 180_000 }, async () => {
      const wait = ["wait", "--for=condition=Available", `apiservice/v1beta1.${GROUP}`, "--timeout=5s"];
      await until(async () => ((await kubectl(wait)).code === 0 ? true : undefined));
      const { stdout } = await until(async () => {
        const listed = await kubectl(["api-resources", `--api-group=${GROUP}`, "-o", "name"]);
        return listed.stdout === "" ? undefined : listed;
      });
      expect(stdout.trim().split("\n").toSorted()).toEqual([`fischers.${GROUP}`, `flunders.${GROUP}`]);
    });

    test("has objects that are created, read, watched, applied and deleted", { timeout: 180_000 }, async () => {
      const flunder = (labels: object) => ({
        apiVersion: `${GROUP}/v1beta1`,
        kind: "Flunder",
        metadata: { name: "first", namespace: "default", labels },
        spec: {},
      });
      await apply(flunder({ a: "1" }));
      const watching = launch(kubectls[0] ?? "", [
        "--kubeconfig",
        kubeconfig,
        "get",
        "flunders",
        "-w",
        "-o",
        "jsonpath={.metadata.labels.a};",
      ]);
      running.push(watching);
      await watching.until(/1;/, 60_000);
      await apply(flunder({ a: "2" }));
      await watching.until(/2;/, 60_000);
      const read = await kubectl([
        "get",
        `flunders.v1alpha1.${GROUP}`,
        "first",
        "-o",
        "jsonpath={.apiVersion} {.metadata.labels.a}",
      ]);
      expect(read.stdout).toBe(`${GROUP}/v1alpha1 2`);
      expect((await kubectl(["explain", "flunder.spec"])).stdout).toContain("reference");
      expect((await kubectl(["delete", "flunder", "first"])).code).toBe(0);
      expect((await kubectl(["get", "flunder", "first"])).stderr).toContain("NotFound");
    });

    test("knows who asks, and asks back whether the user may", { timeout: 60_000 }, async () => {
      expect(await kubectl(["get", "flunders", "--as=jane"])).toMatchObject({ code: 0 });
      const refused = await kubectl(["get", "fischers", "--as=jane"]);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(`User "jane" cannot list resource "fischers" in API group "${GROUP}"`);
    });

    test("has its end reported in the condition, and requests get 503", { timeout: 180_000 }, async () => {
      await extension.stop();
      const status = [
        "get",
        `apiservice/v1beta1.${GROUP}`,
        "-o",
        "jsonpath={.status.conditions[0].status} {.status.conditions[0].reason}",
      ];
      const said = await until(async () => {
        const { stdout } = await kubectl(status);
        return stdout.startsWith("False") ? stdout : undefined;
      });
      expect(said).toBe("False FailedDiscoveryCheck");
      const refused = await kubectl(["get", "--raw", `/apis/${GROUP}/v1beta1/flunders`]);
      expect(refused.stderr).toMatch(/service unavailable|unable to handle the request|ServiceUnavailable/i);
    });
  });
