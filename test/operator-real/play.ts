import { deployment, statusOf } from "./cloud.ts";
import { startRig, volumes } from "./rig.ts";
const rig = await startRig();
console.log("rig is up", rig.dir);
rig.apply(volumes(10));
rig.apply(deployment((process.argv[2] ?? "").split(",").filter((s) => s !== "") as never));
let last = "";
process.on("SIGINT", () => void rig.close().then(() => process.exit(0)));
for (;;) {
  const s = statusOf(rig);
  const text =
    `${s.phase} ${s.ready} ` +
    (s.components ?? [])
      .filter((c) => c.state !== "Ready")
      .map((c) => `${c.name}:${c.step ?? c.state}`)
      .join("; ");
  if (text !== last) console.log(new Date().toISOString().slice(11, 19), (last = text).slice(0, 600));
  await new Promise((r) => setTimeout(r, 2000));
}
