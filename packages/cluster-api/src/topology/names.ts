import type { Cluster } from "@causeway/api";
import { messageOf } from "@causeway/foundation";
import { renderTemplate } from "../gotemplate/render.ts";
import type { Fields } from "../gotemplate/values.ts";
import { suffixedName, suffixOf } from "../objects/names.ts";
import { TopologyProblem } from "./problem.ts";

const longestName = 63;

/**
 * Names are made from what they are for: a create that is repeated, after a crash or a lost answer, meets what it made
 * before. `role` says what the object is for within its Cluster.
 */
export function nameFor(
  cluster: Cluster,
  role: string,
  naming: { readonly template: string; readonly data?: Fields },
): string {
  const random = suffixOf(`${cluster.metadata.uid ?? cluster.metadata.name}/${role}`);
  try {
    const data = { ...naming.data, cluster: { name: cluster.metadata.name }, random };
    const name = renderTemplate(naming.template, data, { missingKey: "error", plain: true });
    return name.length > longestName ? name.slice(0, longestName - random.length) + random : name;
  } catch (error) {
    throw new TopologyProblem(
      `failed to make a name from the template ${JSON.stringify(naming.template)}: ${messageOf(error)}`,
    );
  }
}

/** `prefix-suffix` of a template object; the templates of one role differ in `content`. */
export function templateName(cluster: Cluster, prefix: string, role: string, content = ""): string {
  return suffixedName(prefix, suffixOf(`${cluster.metadata.uid ?? cluster.metadata.name}/${role}/${content}`));
}
