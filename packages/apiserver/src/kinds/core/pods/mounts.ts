import { at, record, records, text, type Json } from "../../../json/json.ts";
import { forbiddenField, invalidValue, required } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { descending, notFoundValue, supported } from "../../shared/checks.ts";

/*
 * Where containers have the pod's volumes. Source: Kubernetes, "Volumes"; API reference, VolumeMount and VolumeDevice.
 */

/** A pod's volumes by their names. */
export type Volumes = ReadonlyMap<string, Json>;

/** The volumes of a pod's spec. */
export function volumesOf(spec: Json): Volumes {
  return new Map(records(spec["volumes"]).map((volume) => [text(volume["name"]), volume]));
}

/** What is wrong with a container's volumeMounts, given the pod's volumes and the container's devices. */
export function mountProblems(container: Json, field: string, volumes: Volumes): FieldProblem[] {
  const list = `${field}.volumeMounts`;
  const devices = records(container["volumeDevices"]);
  const paths = new Set<string>();
  return records(container["volumeMounts"]).flatMap((mount, i) => {
    const place = `${list}[${i}]`;
    const name = text(mount["name"]);
    const path = text(mount["mountPath"]);
    const problems: FieldProblem[] = [];
    if (name === "") problems.push(required(`${place}.name`));
    if (!volumes.has(name)) problems.push(notFoundValue(`${place}.name`, name));
    if (path === "") problems.push(required(`${place}.mountPath`));
    if (paths.has(path)) problems.push(invalidValue(`${place}.mountPath`, path, "must be unique"));
    paths.add(path);
    if (devices.some((d) => d["name"] === name)) {
      problems.push(invalidValue(`${place}.name`, name, "must not already exist in volumeDevices"));
    }
    if (devices.some((d) => d["devicePath"] === path)) {
      const why = "must not already exist as a path in volumeDevices";
      problems.push(invalidValue(`${place}.mountPath`, path, why));
    }
    return [...problems, ...subPathProblems(mount, place, list), ...modeProblems(mount, list, container)];
  });
}

// kube-apiserver names these by the list, not by the mount.
function subPathProblems(mount: Json, place: string, list: string): FieldProblem[] {
  const path = text(mount["subPath"]);
  const expression = text(mount["subPathExpr"]);
  const problems = path === "" ? [] : descending(`${list}.subPath`, path);
  if (expression === "") return problems;
  if (path !== "") {
    const why = "subPathExpr and subPath are mutually exclusive";
    problems.push(invalidValue(`${place}.subPathExpr`, expression, why));
  }
  return [...problems, ...descending(`${list}.subPathExpr`, expression)];
}

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];
const RECURSIVE = ["Disabled", "Enabled", "IfPossible"];

function modeProblems(mount: Json, list: string, container: Json): FieldProblem[] {
  const { mountPropagation: propagation, recursiveReadOnly: recursive } = mount;
  const problems = supported(`${list}.mountPropagation`, propagation, PROPAGATIONS);
  const isPrivileged = at(container, "securityContext", "privileged") === true;
  if (propagation === "Bidirectional" && !isPrivileged) {
    const why = "Bidirectional mount propagation is available only to privileged containers";
    problems.push(forbiddenField(`${list}.mountPropagation`, why));
  }
  const field = `${list}.recursiveReadOnly`;
  problems.push(...supported(field, recursive, RECURSIVE));
  if (recursive !== "Enabled" && recursive !== "IfPossible") return problems;
  if (mount["readOnly"] !== true) {
    problems.push(forbiddenField(field, "may only be specified when readOnly is true"));
  }
  if (propagation !== undefined && propagation !== "None") {
    problems.push(forbiddenField(field, "may only be specified when mountPropagation is None or not specified"));
  }
  return problems;
}

/** What is wrong with a container's volumeDevices, given the pod's volumes and the container's mounts. */
export function deviceProblems(container: Json, field: string, volumes: Volumes): FieldProblem[] {
  const list = `${field}.volumeDevices`;
  const mounts = records(container["volumeMounts"]);
  const [names, paths] = [new Set<string>(), new Set<string>()];
  return records(container["volumeDevices"]).flatMap((device, i) => {
    const place = `${list}[${i}]`;
    const name = text(device["name"]);
    const path = text(device["devicePath"]);
    const volume = record(volumes.get(name));
    const problems: FieldProblem[] = [];
    if (name === "") problems.push(required(`${place}.name`));
    if (names.has(name)) problems.push(invalidValue(`${place}.name`, name, "must be unique"));
    if (volumes.has(name) && !volume["persistentVolumeClaim"] && !volume["ephemeral"]) {
      const why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
      problems.push(invalidValue(`${place}.name`, name, why));
    }
    if (!volumes.has(name)) problems.push(notFoundValue(`${place}.name`, name));
    if (path === "") problems.push(required(`${place}.devicePath`));
    if (paths.has(path)) problems.push(invalidValue(`${place}.devicePath`, path, "must be unique"));
    problems.push(...(path === "" ? [] : stepProblems(`${place}.devicePath`, path)));
    if (mounts.some((m) => m["name"] === name)) {
      problems.push(invalidValue(`${place}.name`, name, "must not already exist in volumeMounts"));
    }
    if (mounts.some((m) => m["mountPath"] === path)) {
      const why = "must not already exist as a path in volumeMounts";
      problems.push(invalidValue(`${place}.devicePath`, path, why));
    }
    names.add(name);
    paths.add(path);
    return problems;
  });
}

function stepProblems(field: string, path: string): FieldProblem[] {
  const isUp = path.split("/").includes("..");
  return isUp ? [invalidValue(field, path, "can not contain backsteps ('..')")] : [];
}
