import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { buildMissing, cached, pinnedVersion, root } from "../../scripts/kubernetes-programs.ts";

const MODULE = "github.com/terraform-provider-openstack/terraform-provider-openstack/v3";
const folder = join(root, "tools/terraform");

export interface TerraformPrograms {
  /** The provider's tests. */
  readonly tests: string;
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
  const program = { name: "openstack.test", source: `${MODULE}/openstack`, flags: "-s -w", tests: "acceptance" };
  const built = await buildMissing([program], folder, cached(`terraform-${pinnedVersion(folder, MODULE)}`));
  if ("reason" in built) return built;
  const tests = join(built.dir, program.name);
  const own = onPath("terraform");
  if (own !== undefined) return { tests, terraform: own, variables: {} };
  const tofu = onPath("tofu");
  if (tofu === undefined) return { reason: "there is no terraform and no tofu on PATH" };
  const variables = { TF_ACC_PROVIDER_NAMESPACE: "hashicorp", TF_ACC_PROVIDER_HOST: "registry.opentofu.org" };
  return { tests, terraform: tofu, variables };
}

function onPath(name: string): string | undefined {
  const files = (process.env["PATH"] ?? "").split(delimiter).map((dir) => join(dir, name));
  return files.find((file) => existsSync(file) && spawnSync(file, ["version"]).status === 0);
}
