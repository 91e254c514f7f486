import type { ListType, MergeType } from "../../schema/merge-type.ts";
import { isList, isObject, type Json, type JsonObject } from "../../json/values.ts";
import { elementsOf } from "./elements.ts";
import { chosen, memberType, narrowed } from "./narrow.ts";

/** The live value with a configuration laid over it; undefined where nothing is left. */
export function merge(live: Json | undefined, applied: Json | undefined, type: MergeType): Json | undefined {
  if (applied === undefined) return mergeAs(narrowed(type, live), live, applied);
  return mergeAs(narrowed(type, applied), live, applied);
}

function mergeAs(type: MergeType, live: Json | undefined, applied: Json | undefined): Json | undefined {
  const over = applied === undefined ? live : applied;
  switch (chosen(type)) {
    case "scalar":
      return over;
    case "map": {
      const [was, is] = [isObject(live) ? live : {}, isObject(applied) ? applied : {}];
      const isLeaf = type.map?.atomic === true || (Object.keys(was).length === 0 && Object.keys(is).length === 0);
      return isLeaf ? over : mergeMembers(type, was, is);
    }
    case "list": {
      const [was, is] = [isList(live) ? live : [], isList(applied) ? applied : []];
      const { list } = type;
      if (list === undefined || list.relation === "atomic" || (was.length === 0 && is.length === 0)) return over;
      const merged = mergeItems(list, was, is);
      return merged.length === 0 ? undefined : merged;
    }
  }
}

function mergeMembers(type: MergeType, live: JsonObject, applied: JsonObject): Json | undefined {
  const names = new Set([...Object.keys(live), ...Object.keys(applied)]);
  const merged = [...names].flatMap((name): [string, Json][] => {
    const [was, is] = [live, applied].map((o) => (Object.hasOwn(o, name) ? o[name] : undefined));
    const value = merge(was, is, memberType(type, name));
    return value === undefined ? [] : [[name, value]];
  });
  return merged.length === 0 ? undefined : Object.fromEntries(merged);
}

/**
 * The applied items in their order; a live item that is not applied remains before whatever follows it in the live
 * list. An item that is there twice in the live list is replaced by an applied one, and remains as it is otherwise.
 */
function mergeItems(list: ListType, live: readonly Json[], applied: readonly Json[]): Json[] {
  const [old, wanted] = [elementsOf(live, list), elementsOf(applied, list)];
  const [inOld, inWanted] = [unique(old), new Map(wanted)];
  const shared = wanted.map(([element]) => element).filter((element) => inOld.has(element));
  const done = new Set<string>();
  const result: Json[] = [];
  const take = (was: Json | undefined, is: Json | undefined): void => {
    const merged = merge(was, is, list.item);
    if (merged !== undefined) result.push(merged);
  };
  let passed = 0;
  const following = (): string | undefined => shared[passed++];
  let next = following();
  let [l, r] = [0, 0];
  while (l < old.length || r < wanted.length) {
    const [leftElement, leftItem] = old[l] ?? [];
    const [rightElement, rightItem] = wanted[r] ?? [];
    if (leftElement !== undefined && rightElement !== undefined) {
      if (leftElement === rightElement) {
        done.add(leftElement);
        take(inOld.get(leftElement), rightItem);
        [l, r] = [l + 1, r + 1];
        next = following();
        continue;
      }
      if (inWanted.has(leftElement) && next !== undefined && next !== leftElement) {
        l += 1;
        continue;
      }
    }
    if (leftElement !== undefined) {
      if (!inWanted.has(leftElement)) {
        take(leftItem, undefined);
        l += 1;
        continue;
      }
      if (done.has(leftElement)) l += 1;
    }
    if (rightElement === undefined) continue;
    done.add(rightElement);
    take(inOld.get(rightElement), rightItem);
    r += 1;
    if (next === rightElement) next = following();
  }
  return result;
}

/** Items by element; null for those that are there twice. */
function unique(items: readonly (readonly [string, Json])[]): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const [element, item] of items) found.set(element, found.has(element) ? null : item);
  return found;
}
