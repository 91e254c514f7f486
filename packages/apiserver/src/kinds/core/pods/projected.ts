import { isRecord, record, records, text, type Json } from "../../../json/json.ts";
import { forbiddenField, invalidValue, required } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { given, localPath, neededText } from "../../shared/checks.ts";
import { fileProblems, itemProblems } from "./files.ts";

/*
 * Volumes of several sources. Source: Kubernetes, "Projected Volumes".
 */

const SHORTEST_TOKEN = 600;
const LONGEST_TOKEN = 2 ** 32;
const KINDS = ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"];

/** What is wrong with a projected volume; two sources may not have a file at the same path. */
export function projectedProblems(projected: Json, field: string): FieldProblem[] {
  const paths = new Set<string>();
  const taken = (items: readonly Json[], shown: (path: string) => unknown): FieldProblem[] =>
    items.flatMap((item) => {
      const path = text(item["path"]);
      const isTwice = path !== "" && paths.has(path);
      paths.add(path);
      return isTwice ? [invalidValue(field, shown(path), "conflicting duplicate paths")] : [];
    });
  return records(projected["sources"]).flatMap((source, i) => {
    const at = `${field}.sources[${i}]`;
    const problems: FieldProblem[] = [];
    for (const name of ["secret", "configMap"]) {
      if (!isRecord(source[name])) continue;
      const { items, name: of } = source[name];
      problems.push(...neededText(`${at}.${name}.name`, of), ...itemProblems(items, `${at}.${name}.items`));
      problems.push(...taken(records(items), () => text(of)));
    }
    const files = records(record(source["downwardAPI"])["items"]);
    problems.push(...files.flatMap((file) => fileProblems(file, `${at}.downwardAPI`)), ...taken(files, (path) => path));
    problems.push(...tokenProblems(source["serviceAccountToken"], `${at}.serviceAccountToken`, field));
    const kinds = KINDS.filter((name) => given(source, name)).length;
    const why = "may not specify more than 1 volume type per source";
    return kinds > 1 ? [...problems, forbiddenField(at, why)] : problems;
  });
}

function tokenProblems(token: unknown, at: string, field: string): FieldProblem[] {
  if (!isRecord(token)) return [];
  const { expirationSeconds: seconds, path } = token;
  const problems: FieldProblem[] = [];
  const place = `${at}.expirationSeconds`;
  if (typeof seconds === "number" && seconds < SHORTEST_TOKEN) {
    problems.push(invalidValue(place, seconds, "may not specify a duration less than 10 minutes"));
  }
  if (typeof seconds === "number" && seconds > LONGEST_TOKEN) {
    problems.push(invalidValue(place, seconds, "may not specify a duration larger than 2^32 seconds"));
  }
  return [...problems, ...(text(path) === "" ? [required(`${field}.path`)] : localPath(`${field}.path`, text(path)))];
}
