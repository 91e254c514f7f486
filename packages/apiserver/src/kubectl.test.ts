import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRequest } from "@causeway/foundation";
import type { ApiServer } from "./interface.ts";
import { startApiServer } from "./start.ts";
import { WIDGETS, widget } from "./testing/widgets.ts";

const KUBECTL = findKubectl();
let dir = "";
let server: ApiServer | undefined;

function findKubectl(): string | undefined {
  try {
    execFileSync("kubectl", ["version", "--client"], { stdio: "ignore" });
    return "kubectl";
  } catch {
    return undefined;
  }
}

interface Result {
  readonly code: number;
  readonly out: string;
}

function kubectl(...args: string[]): Promise<Result> {
  const env = { ...process.env, KUBECONFIG: join(dir, "kubeconfig"), HOME: dir };
  return new Promise((resolve) => {
    execFile(KUBECTL ?? "", args, { env, timeout: 15_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? 1 : 0, out: `${stdout}${stderr}` });
    });
  });
}

function file(name: string, content: unknown): string {
  const path = join(dir, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

beforeAll(async () => {
  if (!KUBECTL) return;
  dir = mkdtempSync(join(tmpdir(), "kubectl-"));
  server = await startApiServer({ crds: [WIDGETS] });
  writeFileSync(join(dir, "kubeconfig"), await server.management.kubeconfig(), { mode: 0o600 });
});
afterAll(async () => {
  await server?.close();
  if (dir) rmSync(dir, { recursive: true, force: true });
});

// Skipped, by name, where there is no kubectl on PATH.
describe.skipIf(!KUBECTL)(KUBECTL ? "stock kubectl" : "stock kubectl (skipped: not on PATH)", () => {
  test("kubectl applies, changes, describes and deletes custom resources", { timeout: 300_000 }, async () => {
    const manifest = file("w.json", widget("a"));
    expect((await kubectl("apply", "-f", manifest)).out).toContain("widget.example.com/a created");
    expect((await kubectl("apply", "-f", manifest)).out).toContain("unchanged");
    expect((await kubectl("apply", "--server-side", "-f", manifest)).out).toContain("serverside-applied");
    expect((await kubectl("scale", "widget/a", "--replicas=4")).out).toContain("scaled");
    expect((await kubectl("patch", "wd", "a", "--type=merge", "-p", '{"spec":{"size":"big"}}')).code).toBe(0);
    expect((await kubectl("get", "wd")).out).toMatch(/NAME +REPLICAS\na +4/);
    const status = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}';
    await kubectl("patch", "wd", "a", "--subresource=status", "--type=merge", "-p", status);
    expect((await kubectl("wait", "wd/a", "--for=condition=Ready", "--timeout=5s")).out).toContain("condition met");
    expect((await kubectl("describe", "wd", "a")).out).toContain("Size:      big");
    expect((await kubectl("explain", "widget.spec.replicas")).out).toContain("How many there are to be.");
    expect((await kubectl("delete", "wd", "a")).out).toContain("deleted");
  });

  test("kubectl refuses a manifest with an unknown field before anything is written", async () => {
    const manifest = file("u.json", widget("u", { size: "small", colour: "red" }));
    const refused = await kubectl("apply", "-f", manifest);
    expect(refused.out).toContain('unknown field "spec.colour"');
    expect((await kubectl("get", "wd", "u")).out).toContain('widgets.example.com "u" not found');
  });

  test("kubectl creates built-in kinds, as typed clients do", async () => {
    expect((await kubectl("create", "namespace", "team")).code).toBe(0);
    expect((await kubectl("create", "configmap", "c", "-n", "team", "--from-literal=a=b")).code).toBe(0);
    expect((await kubectl("create", "deployment", "web", "--image=nginx:1", "-n", "team")).code).toBe(0);
    const exposed = await kubectl("expose", "deployment", "web", "--port=80", "--type=LoadBalancer", "-n", "team");
    expect(exposed.out).toContain("service/web exposed");
    expect((await kubectl("get", "svc", "-n", "team")).out).toMatch(
      /web +LoadBalancer +10\.\d+\.\d+\.\d+ +<pending> +80:3\d{4}\/TCP/,
    );
    expect((await kubectl("set", "image", "deployment/web", "nginx=nginx:2", "-n", "team")).code).toBe(0);
    expect((await kubectl("get", "deployment", "web", "-n", "team", "-o", "yaml")).out).toContain("image: nginx:2");
    expect((await kubectl("explain", "pods.spec.containers.image")).out).toContain("FIELD: image <string>");
    expect((await kubectl("delete", "namespace", "team", "--timeout=10s")).code).toBe(0);
  });

  test("kubectl asks who it is and what it may do", async () => {
    expect((await kubectl("auth", "whoami")).out).toContain("kubernetes-admin");
    expect((await kubectl("auth", "can-i", "delete", "pods")).out.trim()).toBe("yes");
    expect((await kubectl("auth", "can-i", "delete", "pods", "--as=joe")).out.trim()).toBe("no");
    expect((await kubectl("api-resources")).out).toMatch(/widgets +wd +example\.com\/v1 +true +Widget/);
  });

  test("kubectl approves a certificate, which is then issued", async () => {
    const { request } = await createRequest({ commonName: "jane", organizations: ["team"] });
    const manifest = file("csr.json", {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "jane" },
      spec: {
        request: Buffer.from(request).toString("base64"),
        signerName: "kubernetes.io/kube-apiserver-client",
        usages: ["client auth"],
      },
    });
    await kubectl("create", "-f", manifest);
    expect((await kubectl("certificate", "approve", "jane")).out).toContain("approved");
    expect((await kubectl("get", "csr", "jane")).out).toContain("Approved,Issued");
  });
});
