import { isRecord, records, text, type Json } from "../../../json/json.ts";
import { invalidValue, required } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { localPath, neededText } from "../../shared/checks.ts";
import { fieldRefProblems, resourceRefProblems } from "./environment.ts";

/*
 * Files that volumes are made of. Source: Kubernetes API reference, KeyToPath and DownwardAPIVolumeFile.
 */

const MODE_RULE = "must be a number between 0 and 0777 (octal), both inclusive";

/** What is wrong with the mode of a file: it is from 0 to 0777. */
export function modeProblems(field: string, mode: unknown): FieldProblem[] {
  const isWrong = typeof mode === "number" && (mode < 0 || mode > 0o777);
  return isWrong ? [invalidValue(field, mode, MODE_RULE)] : [];
}

/** Keys of a ConfigMap or Secret as files. */
export function itemProblems(items: unknown, field: string): FieldProblem[] {
  return records(items).flatMap((item, i) => {
    const at = `${field}[${i}]`;
    const path = text(item["path"]);
    return [
      ...neededText(`${at}.key`, item["key"]),
      ...(path === "" ? [required(`${at}.path`)] : localPath(`${at}.path`, path)),
      ...modeProblems(`${at}.mode`, item["mode"]),
    ];
  });
}

/** A file of the downward API; kube-apiserver names its fields by the list. */
export function fileProblems(file: Json, field: string): FieldProblem[] {
  const path = text(file["path"]);
  const problems = path === "" ? [required(`${field}.path`)] : localPath(`${field}.path`, path);
  if (isRecord(file["fieldRef"])) {
    problems.push(...fieldRefProblems(file["fieldRef"], `${field}.fieldRef`, true));
    if (isRecord(file["resourceFieldRef"])) {
      const why = "fieldRef and resourceFieldRef can not be specified simultaneously";
      problems.push(invalidValue(field, "resource", why));
    }
  } else if (isRecord(file["resourceFieldRef"])) {
    problems.push(...resourceRefProblems(file["resourceFieldRef"], `${field}.resourceFieldRef`, true));
  } else problems.push(required(field, "one of fieldRef and resourceFieldRef is required"));
  return [...problems, ...modeProblems(`${field}.mode`, file["mode"])];
}
