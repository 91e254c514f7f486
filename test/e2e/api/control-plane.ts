import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerName } from "../../contracts/kubernetes/interface.ts";
import { freePorts } from "../../support/free-ports.ts";
import { launchInto, startHollowNode } from "../../support/hollow-node.ts";
import { kubeconfigFor, startServer, type Server } from "./servers.ts";

const NODES = 2;

/**
 * Who runs workloads: kube-controller-manager and kube-scheduler, or the server itself (`causeway apiserver
 * --controllers`).
 */
export type Controllers = "kubernetes" | "own";

/** A server with controllers, a scheduler and hollow nodes (kubelets whose containers are made up). */
export interface ControlPlane {
  /** A file: of the administrator. */
  readonly kubeconfig: string;
  readonly close: () => Promise<void>;
}

export interface Programs {
  /** The folder with the hollow node. */
  readonly programs: string;
  /** The folder with kube-controller-manager and kube-scheduler. */
  readonly binaries: string;
  /** For what they write. */
  readonly dir: string;
}

/** Writes what the programs read; answers the path. */
function keeper(dir: string): (name: string, text: string) => string {
  return (name, text) => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
}

async function startControllers(server: Server, { binaries, dir }: Programs): Promise<() => Promise<void>> {
  const keep = keeper(dir);
  const manager = keep("manager.json", await kubeconfigFor(server, { user: "system:kube-controller-manager" }));
  const authority = keep("authority.crt", server.authority.certificate);
  const args = [
    `--kubeconfig=${manager}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--use-service-account-credentials",
    `--service-account-private-key-file=${keep("accounts.key", server.accountKey)}`,
    `--root-ca-file=${authority}`,
    `--cluster-signing-cert-file=${authority}`,
    `--cluster-signing-key-file=${keep("authority.key", server.authority.key)}`,
  ];
  return launchInto(join(dir, "controllers.log"), join(binaries, "kube-controller-manager"), args);
}

async function startScheduler(server: Server, { binaries, dir }: Programs): Promise<() => Promise<void>> {
  const kubeconfig = keeper(dir)("scheduler.json", await kubeconfigFor(server, { user: "system:kube-scheduler" }));
  const args = [`--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--secure-port=0"];
  return launchInto(join(dir, "scheduler.log"), join(binaries, "kube-scheduler"), args);
}

async function startNode(server: Server, { programs, dir }: Programs, name: string): Promise<() => Promise<void>> {
  const identity = { user: `system:node:${name}`, groups: ["system:nodes"] };
  const kubeconfig = keeper(dir)(`${name}.json`, await kubeconfigFor(server, identity));
  return startHollowNode({ name, kubeconfig, programs, dir, ports: await freePorts(2) });
}

export async function startControlPlane(
  name: ServerName,
  where: Programs,
  controllers: Controllers = "kubernetes",
): Promise<ControlPlane> {
  const server = await startServer(name, where.dir, controllers === "own" ? ["--controllers"] : []);
  const running = [server.close];
  try {
    if (controllers === "kubernetes") {
      running.unshift(await startControllers(server, where), await startScheduler(server, where));
    }
    for (let i = 0; i < NODES; i += 1) running.unshift(await startNode(server, where, `hollow-${i}`));
    const administrator = await kubeconfigFor(server, { user: "admin", groups: ["system:masters"] });
    const kubeconfig = keeper(where.dir)("admin.json", administrator);
    return { kubeconfig, close: () => closeAll(running) };
  } catch (error) {
    await closeAll(running);
    throw error;
  }
}

async function closeAll(running: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of running) await close();
}
