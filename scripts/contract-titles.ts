/**
 * The names of contract cases are titles of tests: they stand alone, too. Many are put together from tables, so this
 * check loads the groups and reads the names as a failing test prints them.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { weakness } from "./test-titles.ts";

/** A module that exports contract cases, alone or in groups. */
export interface CaseModule {
  readonly file: string;
  readonly exported: string;
  /** The field of a case that is its name. */
  readonly name: "name" | "says";
}

const MODULES: readonly CaseModule[] = [
  { file: "test/contracts/kubernetes/cases/all.ts", exported: "caseGroups", name: "name" },
  { file: "test/contracts/openstack/groups.ts", exported: "groups", name: "says" },
  { file: "test/contracts/openstack/cases/container-infra.ts", exported: "containerInfraGroups", name: "says" },
  { file: "packages/openstack/src/contract/contract.ts", exported: "openstackContract", name: "name" },
];

type Fields = Readonly<Record<string, unknown>>;

/** Every name of a contract case that does not stand alone, one line each; also a module without cases. */
export async function checkContractTitles(
  root: string,
  modules: readonly CaseModule[] = MODULES,
): Promise<readonly string[]> {
  const found = await Promise.all(
    modules.map(async ({ file, exported, name }) => {
      const loaded = (await import(pathToFileURL(join(root, file)).href)) as Fields;
      const groups = groupsOf(loaded[exported]);
      const isEmpty = groups.every(({ cases }) => cases.length === 0);
      return isEmpty ? [`${file}: ${exported} has no cases`] : groups.flatMap((group) => problemsOf(file, name, group));
    }),
  );
  return found.flat();
}

interface Group {
  readonly title: string;
  readonly cases: readonly Fields[];
}

/** Cases without groups are one group. */
function groupsOf(exported: unknown): readonly Group[] {
  const all = Array.isArray(exported) ? (exported as readonly Fields[]) : [];
  const grouped = all.filter((one) => Array.isArray(one["cases"]));
  if (grouped.length === 0) return [{ title: "", cases: all }];
  return grouped.map((group) => ({
    title: String(group["title"] ?? group["name"]),
    cases: group["cases"] as readonly Fields[],
  }));
}

function problemsOf(file: string, field: string, { title, cases }: Group): string[] {
  const seen = new Set<string>();
  return cases.flatMap((each) => {
    const name = String(each[field]);
    const why = seen.has(name)
      ? "is the name of another case of this group"
      : weakness({ full: name, own: name, isTop: true });
    seen.add(name);
    return why === undefined ? [] : [`${file}: ${title === "" ? "" : `${title}: `}"${name}" ${why}`];
  });
}
