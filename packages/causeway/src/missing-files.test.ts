import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { CausewayError, createAuthority, issueCertificate, messageOf } from "@causeway/foundation";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { program } from "./program.ts";
import { exitStatusOf } from "./terminal/report-error.ts";

vi.setConfig({ testTimeout: 60_000 });

const dir = mkdtempSync(join(tmpdir(), "missing-files-"));
const missing = join(dir, "nope");
const kubeconfig = join(dir, "kubeconfig");
const clouds = join(dir, "clouds.yaml");
const cloudConf = join(dir, "cloud.conf");
const ingress = join(dir, "ingress.yaml");
const keystone = "http://127.0.0.1:1/v3";

/** Values of required options other than the one that is tested. */
const valid: Readonly<Record<string, string>> = {
  "--cloud-config": cloudConf,
  "--config": ingress,
  "--source-kubeconfig": kubeconfig,
  "--keystone-url": keystone,
  "--share-protocol-selector": "NFS",
  "--cloud": "a",
  "--disk": join(dir, "disk"),
};

const certificate = join(dir, "tls.crt");
const key = join(dir, "tls.key");
const tls = ["--tls-cert-file", certificate, "--tls-private-key-file", key];
const webhook = ["--audit-webhook-url", "https://audit.example.com", "--audit-webhook-namespace", "audit"];
const hosted = ["--kubeconfig", kubeconfig];
const server = ["--uds-name", join(dir, "proxy.sock")];

/** What else a command needs, before the option that is tested, which wins. */
const needs: Readonly<Record<string, readonly string[]>> = {
  "up --cacert": ["--state", join(dir, "up"), "--cloud", "a"],
  "up --backup-key-file": ["--state", join(dir, "up"), "--cloud", "a", "--backup-cloud", "a"],
  apiserver: ["--state", join(dir, "apiserver"), ...tls],
  "move --kubeconfig": ["--to-directory", join(dir, "moved")],
  "move --service-kubeconfig": ["--to-kubeconfig", kubeconfig, "--hosted-control-planes"],
  "run cloud-controller-manager": ["--kubeconfig", kubeconfig, "--enable-leader-migration", ...tls],
  "run keystone-auth": ["--keystone-url", keystone, ...tls],
  "run keystone-auth --sync-config-file": ["--keystone-url", keystone, "--kubeconfig", kubeconfig, ...tls],
  "run keystone-auth --kubeconfig": ["--keystone-url", keystone, "--policy-configmap-name", "policy", ...tls],
  "run barbican-kms": ["--socketpath", join(dir, "kms.sock")],
  "run cinder-csi --cloud-config": ["--endpoint", `unix://${join(dir, "csi.sock")}`],
  "run cinder-csi --kubeconfig": ["--cloud-config", cloudConf, "--pvc-annotations", "true"],
  "run manila-csi": ["--pvc-annotations"],
  "run tunnel-server": server,
  "run tunnel-server --server-cert": [...server, "--server-key", key],
  "run tunnel-server --server-key": [...server, "--server-cert", certificate],
  "run tunnel-server --cluster-cert": [...server, "--cluster-key", key],
  "run tunnel-server --cluster-key": [...server, "--cluster-cert", certificate],
  "run tunnel-agent": ["--ca-cert", clouds, "--agent-cert", clouds, "--agent-key", clouds],
  "run magnum-api": ["--kubeconfig", kubeconfig, ...tls],
  "run hosted-control-plane --tunnel-ca-file": [...hosted, "--tunnel-url", "https://tunnel.example.com"],
  "run hosted-control-plane --audit-webhook-ca-file": [...hosted, ...webhook, "--audit-webhook-token-file", clouds],
  "run hosted-control-plane --audit-webhook-token-file": [...hosted, ...webhook, "--audit-webhook-ca-file", clouds],
  "run hosted-control-plane --backup-key-file": [...hosted, "--backup-cloud", "a"],
  sweep: ["--cluster-name", "a"],
};

/** Files that are made, or that may be missing. */
const exempt: readonly string[] = [
  "run barbican-kms --socketpath",
  "run cinder-csi --kubelet-registration-path",
  "run manila-csi --kubelet-registration-path",
  "run manila-csi --runtime-config-file",
  "run tunnel-server --uds-name",
  "run magnum-api --audit-file",
  // The program of a machine, which searches it when it starts.
  "machine-agent --kubelet-path",
  "machine --kubelet-path",
];

type Row = readonly [title: string, args: readonly string[]];

function rowsOf(command: CommandUnknownOpts, path: readonly string[]): Row[] {
  const name = path.join(" ");
  const required = command.registeredArguments.filter((one) => one.required).map(() => "x");
  const files = command.options.filter(({ flags }) => /<(file|path)>/.test(flags));
  const rows = files.map(({ long }): Row => {
    const flag = long ?? "";
    const others = command.options.filter(
      (one) => one.mandatory && one.long !== flag && one.defaultValue === undefined,
    );
    const given = others.flatMap((one) => [one.long ?? "", valid[one.long ?? ""] ?? "x"]);
    const more = needs[`${name} ${flag}`] ?? needs[name] ?? [];
    return [`${name} ${flag}`, [...path, ...required, ...given, ...more, flag, missing]];
  });
  return [...rows, ...command.commands.flatMap((inner) => rowsOf(inner, [...path, inner.name()]))];
}

const rows: readonly Row[] = [
  ...rowsOf(program(new AbortController().signal), []).filter(([title]) => !exempt.includes(title)),
  ["restore FILE", ["restore", missing, "--state", join(dir, "restored")]],
];

beforeAll(async () => {
  const authority = await createAuthority({ commonName: "tests", lifetime: 3_600_000 });
  const pair = await issueCertificate(authority, { commonName: "tests", usages: ["server"], lifetime: 3_600_000 });
  writeFileSync(certificate, pair.certificate);
  writeFileSync(key, pair.key);
  writeFileSync(
    kubeconfig,
    `apiVersion: v1
kind: Config
current-context: a
contexts: [{ name: a, context: { cluster: a, user: a } }]
clusters: [{ name: a, cluster: { server: "http://127.0.0.1:1" } }]
users: [{ name: a, user: {} }]
`,
  );
  const user = "username: u, password: p, project_name: p, user_domain_name: d, project_domain_name: d";
  writeFileSync(clouds, `clouds:\n  a:\n    auth: { auth_url: "${keystone}", ${user} }\n`);
  const global = `auth-url=${keystone}\nusername=u\npassword=p\ntenant-name=p\ndomain-name=d`;
  writeFileSync(cloudConf, `[Global]\n${global}\n[KeyManager]\nkey-id=00000000-0000-4000-8000-000000000001\n`);
  const openstack = global.replaceAll("=", ": ").replaceAll("\n", "\n  ");
  writeFileSync(
    ingress,
    `cluster-name: a\nopenstack:\n  ${openstack}\noctavia:\n  subnet-id: s\n  floating-network-id: f\n`,
  );
  vi.stubEnv("KUBECONFIG", kubeconfig);
  vi.stubEnv("OS_CLIENT_CONFIG_FILE", clouds);
  vi.stubEnv("OS_CLOUD", "a");
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

/** What a command fails with. */
async function failureOf(args: readonly string[]): Promise<unknown> {
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`exit ${code}: ${JSON.stringify(stderr.mock.calls)}`);
  });
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const stdout = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const stopping = new AbortController();
  try {
    await program(stopping.signal).parseAsync(["node", "causeway", ...args]);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    stopping.abort();
    exit.mockRestore();
    stderr.mockRestore();
    stdout.mockRestore();
  }
}

describe("a file that does not exist", () => {
  test.each(rows)("of %s ends it with status 2, a code and a hint", async (_, args) => {
    const error = await failureOf(args);
    expect(messageOf(error) + messageOf((error as Error).cause ?? "")).toContain(missing);
    expect(error).toBeInstanceOf(CausewayError);
    expect(error).toMatchObject({ hint: expect.stringMatching(/./) as string });
    expect(exitStatusOf(error)).toBe(2);
  });
});

test("backup ends with status 2 and a hint when its file cannot be written, before a backup is made", async () => {
  const error = await failureOf(["backup", join(missing, "file"), "--state", dir]);
  expect(error).toMatchObject({ code: "BACKUP_FILE_UNWRITABLE", hint: expect.stringContaining("folder") as string });
  expect(exitStatusOf(error)).toBe(2);
});

test("restore makes no state folder when its file cannot be read", () => {
  expect(existsSync(join(dir, "restored"))).toBe(false);
});

test("cloud ends with status 2 at an address that others reach", async () => {
  const error = await failureOf(["cloud", "--bind-address", "0.0.0.0", "--state", join(dir, "cloud")]);
  expect(error).toMatchObject({ code: "NOT_LOOPBACK" });
  expect(exitStatusOf(error)).toBe(2);
});

test("apiserver refuses a certificate without its key", async () => {
  const error = await failureOf(["apiserver", "--state", join(dir, "apiserver"), "--tls-cert-file", certificate]);
  expect(error).toMatchObject({ code: "FLAG_INVALID", hint: expect.stringContaining("both") as string });
});

test("a manifest that is no YAML is refused in one line, without an excerpt of the file", async () => {
  const broken = join(dir, "broken.yaml");
  writeFileSync(broken, "kind: [\nmetadata: }\n");
  const error = await failureOf(["plan", "cluster", "-f", broken]);
  expect(error).toMatchObject({ code: "PLAN_FILE_INVALID" });
  expect(messageOf(error)).toMatch(/at line \d+, column \d+$/);
});
