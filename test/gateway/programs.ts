import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { buildMissing, cached, pinnedVersion, root } from "../../scripts/kubernetes-programs.ts";

const MODULE = "sigs.k8s.io/gateway-api";
const SUITE = `${MODULE}/conformance`;
const folder = join(root, "tools/gateway");

export interface GatewayPrograms {
  readonly version: string;
  /** The suite's tests. */
  readonly suite: string;
  /** The server that the suite's pods run. */
  readonly echo: string;
  /** The folder of the CRDs of the standard channel. */
  readonly crds: string;
}

/** The suite and its echo server, built at first into the user's cache directory; or why there are none. */
export async function gatewayPrograms(): Promise<GatewayPrograms | { readonly reason: string }> {
  const version = pinnedVersion(folder, SUITE);
  const programs = [
    { name: "conformance.test", source: SUITE, flags: "-s -w", tests: "" },
    { name: "echo-basic", source: `${SUITE}/echo-basic`, flags: "-s -w" },
  ];
  const built = await buildMissing(programs, folder, cached(`gateway-api-${version}`));
  if ("reason" in built) return built;
  const found = spawnSync("go", ["mod", "download", "-json", `${MODULE}@${version}`], {
    cwd: folder,
    encoding: "utf8",
  });
  const module = (JSON.parse(found.stdout) as { Dir?: string }).Dir;
  if (module === undefined) return { reason: `${MODULE} could not be downloaded: ${found.stderr}` };
  const [suite, echo] = ["conformance.test", "echo-basic"].map((name) => join(built.dir, name));
  return { version, suite: suite ?? "", echo: echo ?? "", crds: join(module, "config/crd/standard") };
}
