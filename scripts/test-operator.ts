/**
 * `npm run test:operator`: OpenStackDeployments on a simulated cluster, and the programs of their pods as processes,
 * some with servers of MariaDB and Open vSwitch, where those are installed. `-- --real`: real processes in real
 * containers instead (root, Debian 12, Go); builds the images and programs that are missing. Other arguments go to the
 * test runner.
 */
import { dirname, resolve } from "node:path";
import { kubernetesBinaries, root, run } from "./kubernetes-programs.ts";
import { rigEnvironment } from "./node/environment.ts";
import { openStackImages } from "./openstack-images/build.ts";
import { usageShown } from "./usage.ts";

const REAL = "--real";
const vitest = resolve(root, "node_modules/.bin/vitest");
const others = process.argv.slice(2).filter((arg) => arg !== REAL);

async function main(): Promise<number> {
  if (!process.argv.includes(REAL))
    return run(vitest, ["run", "--config", "vitest.operator.config.ts", ...others], { cwd: root, env: process.env });
  const nodes = await rigEnvironment();
  const client = "reason" in nodes ? nodes : await kubernetesBinaries(["kubectl"]);
  if ("reason" in nodes || "reason" in client) {
    const { reason } = ("reason" in nodes ? nodes : client) as { readonly reason: string };
    console.log(`skipped: no real containers here: ${reason}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const images = await openStackImages();
  const env = {
    ...process.env,
    CAUSEWAY_NODE_PROGRAMS: dirname(nodes.kubelet),
    CAUSEWAY_NODE_IMAGES: nodes.images,
    CAUSEWAY_OPENSTACK_IMAGES: images.folder,
    PATH: `${client.dir}:${process.env["PATH"] ?? ""}`,
  };
  return run(vitest, ["run", "--config", "vitest.operator-real.config.ts", ...others], { cwd: root, env });
}

process.exitCode = usageShown(import.meta.filename) ? 0 : await main();
