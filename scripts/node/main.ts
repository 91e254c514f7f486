/** `npm run node`: builds what machines with a real kubelet need (root, Debian 12, Go), and prints how to run them. */
import { nodeEnvironment } from "./environment.ts";

const made = await nodeEnvironment();
if ("reason" in made) {
  console.error(made.reason);
  process.exitCode = 1;
} else {
  console.log(
    `causeway machine-agent --cloud NAME --kubelet real --kubelet-path ${made.kubelet} --images ${made.images}`,
  );
}
