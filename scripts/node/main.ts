/**
 * `npm run node`: builds what machines with a real kubelet need (root, Debian 12, Go), and prints how to run them. `--
 * overlay`: with flannel's overlay network of pods.
 */
import { nodeEnvironment } from "./environment.ts";

const made = await nodeEnvironment();
if ("reason" in made) {
  console.error(made.reason);
  process.exitCode = 1;
} else {
  const isOverlay = process.argv.includes("overlay");
  const network = isOverlay ? " --pod-network addon" : "";
  const addons = `kube-proxy,coredns${isOverlay ? ",flannel" : ""}`;
  console.log(
    `causeway machine-agent --cloud NAME --kubelet real --kubelet-path ${made.kubelet} --images ${made.images}${network}\n` +
      `causeway create cluster NAME --cloud NAME --kubernetes-version ${made.version} --addons ${addons}`,
  );
}
