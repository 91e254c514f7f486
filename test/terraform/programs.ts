import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { buildMissing, cached, pinnedVersion, root } from "../../scripts/kubernetes-programs.ts";
import { copyWithoutSkips } from "../support/without-skips.ts";

const MODULE = "github.com/terraform-provider-openstack/terraform-provider-openstack/v3";
/** Why upstream's CI skips the tests of clusters. */
const NO_CLUSTERS = "Currently failing in GH-A: cant deploy cluster";
const folder = join(root, "tools/terraform");

export interface TerraformPrograms {
  /** The provider's tests. */
  readonly tests: string;
  /** The same, but those of Magnum's clusters do not begin by skipping themselves. */
  readonly clusterTests: string;
  /** terraform or tofu. */
  readonly terraform: string;
  /** The environment with which the tests use a program that is not HashiCorp's. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * The provider's tests, built at first into the user's cache directory, and the Terraform of PATH; or why there are
 * none.
 */
export async function terraformPrograms(): Promise<TerraformPrograms | { readonly reason: string }> {
  const source = `${MODULE}/openstack`;
  const dir = cached(`terraform-${pinnedVersion(folder, MODULE)}`);
  const program = { name: "openstack.test", source, flags: "-s -w", tests: "acceptance" };
  const clusters = { ...program, source: "./openstack", name: "clusters.test" };
  const first = await buildMissing([program], folder, dir);
  if ("reason" in first) return first;
  const copy = join(dir, "with-clusters");
  if (!existsSync(join(dir, clusters.name)))
    copyWithoutSkips({ folder, module: MODULE, tests: "openstack", reason: NO_CLUSTERS, to: copy });
  const built = await buildMissing([clusters], copy, dir);
  if ("reason" in built) return built;
  const [tests, clusterTests] = [join(dir, program.name), join(dir, clusters.name)];
  const own = onPath("terraform");
  if (own !== undefined) return { tests, clusterTests, terraform: own, variables: {} };
  const tofu = onPath("tofu");
  if (tofu === undefined) return { reason: "there is no terraform and no tofu on PATH" };
  const variables = { TF_ACC_PROVIDER_NAMESPACE: "hashicorp", TF_ACC_PROVIDER_HOST: "registry.opentofu.org" };
  return { tests, clusterTests, terraform: tofu, variables };
}

/** The program of this name on PATH that says its version. */
export function onPath(name: string): string | undefined {
  const files = (process.env["PATH"] ?? "").split(delimiter).map((dir) => join(dir, name));
  return files.find((file) => existsSync(file) && spawnSync(file, ["version"]).status === 0);
}
