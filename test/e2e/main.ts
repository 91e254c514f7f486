/** Started by `npm run test:e2e`. */
import { spawn } from "node:child_process";
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { World } from "@causeway/cloud-controller-manager/testing";
import { loadCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { startSimulator } from "@causeway/simulator";
import { startKubeApiserver } from "../contracts/kubernetes/kube-apiserver.ts";
import { administrator } from "../programs/servers.ts";
import { causeway } from "../support/processes.ts";
import { Machines } from "./machines.ts";
import { outcomesOf, type Outcome } from "./report.ts";
import { SPECS, type Spec } from "./specs.ts";

const programs = process.env["CAUSEWAY_E2E_PROGRAMS"] ?? "";
const binaries = process.env["CAUSEWAY_KUBERNETES_BINARIES"] ?? "";
const NODES = 3;
/** A node is deleted only some time after its kubelet fell silent; the suite itself waits five to ten minutes. */
const LONGEST = 1_500_000;

function cloudConf({ authUrl, auth, scope }: CloudConfig): string {
  if (auth.type !== "password") throw new Error("the simulated cloud has passwords");
  const login = { "auth-url": authUrl, username: auth.username, password: auth.password };
  const place = { "tenant-name": scope?.projectName, "domain-name": "Default", region: "RegionOne" };
  const lines = Object.entries({ ...login, ...place }).map(([key, value]) => `${key}=${value}`);
  return ["[Global]", ...lines, "[LoadBalancer]", "lb-provider=ovn", ""].join("\n");
}

/** Starts a program with its output in a file; the answer ends it. */
function launch(file: string, args: readonly string[], dir: string): () => Promise<void> {
  const log = openSync(join(dir, `${file.split("/").at(-1)}.log`), "a", 0o600);
  const child = spawn(file, args, { stdio: ["ignore", log, log] });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  return () => {
    child.kill("SIGKILL");
    return ended;
  };
}

/** The outcomes of the specs that ran. */
async function play(specs: readonly Spec[], how: { kubeconfig: string; machines: string; dir: string }) {
  const report = join(how.dir, "report.json");
  const args = [
    `--kubeconfig=${how.kubeconfig}`,
    `--kubectl-path=${join(binaries, "kubectl")}`,
    `--provider=${specs[0]?.provider}`,
    "--node-instance-group=e2e",
    "--minStartupPods=0",
    "--disable-log-dump=true",
    ...specs.map(({ focus }) => `--ginkgo.focus=${focus}`),
    `--ginkgo.json-report=${report}`,
    "--ginkgo.no-color",
    "--ginkgo.timeout=25m",
  ];
  const env = { ...process.env, CAUSEWAY_E2E_MACHINES: how.machines };
  const child = spawn(join(programs, "e2e"), args, { stdio: "inherit", env, timeout: LONGEST });
  await new Promise((done) => child.once("close", done));
  return outcomesOf(report);
}

async function main(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), "causeway-e2e-"));
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const target = await startKubeApiserver();
  const simulator = await startSimulator({ profile: "instant" });
  const closing = [() => simulator.close(), () => target.close()];
  try {
    const text = await administrator(target);
    const kubeconfig = file("admin.conf", text);
    const config = loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" });
    const conf = file("cloud.conf", cloudConf(config));
    const keys = dirname(target.auditLog);
    const manager = [
      `--kubeconfig=${kubeconfig}`,
      "--leader-elect=false",
      "--secure-port=0",
      `--service-account-private-key-file=${join(keys, "sa.key")}`,
      `--root-ca-file=${join(keys, "ca.crt")}`,
    ];
    closing.unshift(launch(join(programs, "kube-controller-manager"), manager, dir));
    const server = { management: { kubeconfig: () => Promise.resolve(text) }, close: () => Promise.resolve() };
    const world = await World.start({ server, config, prefix: "e2e", servers: NODES, timeout: 120_000 });
    closing.unshift(async () => void (await Promise.all([world.client.close(), world.cloud.close()])));
    const ours = ["--cloud-config", conf, "--kubeconfig", kubeconfig, "--cluster-name=e2e", "--leader-elect=false"];
    const started = causeway(["run", "cloud-controller-manager", ...ours]);
    closing.unshift(async () => void (await started.stop("SIGTERM")));
    const machines = new Machines(world);
    closing.unshift(() => machines.close());
    const at = await machines.start();
    const whole = async (): Promise<void> => {
      await machines.resize(NODES);
      await machines.settled();
    };
    return await playAll({ kubeconfig, machines: at, dir }, whole);
  } finally {
    for (const close of closing) await close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/**
 * Those that take machines away run one by one, each on a group that `whole` has restored: the suite counts the nodes
 * when it begins.
 */
async function playAll(how: Parameters<typeof play>[1], whole: () => Promise<void>): Promise<number> {
  const wanted = new RegExp(process.argv[2] ?? "");
  const specs = SPECS.filter(({ focus }) => wanted.test(focus));
  const gentle = specs.filter(({ provider }) => provider === "skeleton");
  const taking = specs.filter(({ provider }) => provider === "gce");
  const outcomes: Outcome[] = [];
  let missing = 0;
  for (const together of [...(gentle.length > 0 ? [gentle] : []), ...taking.map((spec) => [spec])]) {
    await whole();
    const played = await play(together, how);
    missing += Math.max(0, together.length - played.length);
    outcomes.push(...played);
  }
  for (const { name, state, seconds, failure } of outcomes)
    console.log(`${state} ${name} (${seconds} s)${failure === undefined ? "" : `: ${failure}`}`);
  const passed = outcomes.filter(({ state }) => state === "passed").length;
  const failed = outcomes.length - passed + missing;
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
