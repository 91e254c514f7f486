import { isJson, own } from "./json.ts";
import { isDuration, secondsOf } from "./duration.ts";

/** Whether `whole` says everything that `part` says. It may say more; one duration may be written in two ways. */
export function says(whole: unknown, part: unknown): boolean {
  if (part === undefined || whole === part) return true;
  if (Array.isArray(whole) && Array.isArray(part)) {
    return whole.length === part.length && part.every((item, index) => says(whole[index], item));
  }
  if (isJson(whole) && isJson(part)) return Object.keys(part).every((key) => says(own(whole, key), part[key]));
  return isDuration(whole) && isDuration(part) && sameDuration(whole, part);
}

/** Neither has a fraction of a second, which the stored version could not keep. */
function sameDuration(a: string, b: string): boolean {
  return !/[.nuµμ]|ms/.test(a + b) && secondsOf(a) === secondsOf(b);
}
