import { badRequest } from "../errors/status.ts";

const UNITS: readonly string[] = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"];

/**
 * Throws 400 when `timeout` of a query is not a duration as Go writes them ("1m30s"). How long it is does not matter
 * here: nothing waits in between. Watches take another parameter. Source: kube-apiserver's answers; Go's
 * time.ParseDuration.
 */
export function checkTimeout(query: URLSearchParams): void {
  const text = query.get("timeout");
  const why = text ? durationProblem(text) : undefined;
  if (why !== undefined) throw badRequest(`invalid timeout specified in the request URL - time: ${why}`);
}

function durationProblem(text: string): string | undefined {
  const duration = `duration ${JSON.stringify(text)}`;
  const unsigned = text.replace(/^[+-]/, "");
  if (unsigned === "0") return undefined;
  if (unsigned === "") return `invalid ${duration}`;
  for (const [, number = "", unit = ""] of unsigned.matchAll(/([\d.]*)([^\d.]*)/g)) {
    if (number === "" && unit === "") continue;
    if (!/^(\d+\.?\d*|\.\d+)$/.test(number)) return `invalid ${duration}`;
    if (unit === "") return `missing unit in ${duration}`;
    if (!UNITS.includes(unit)) return `unknown unit ${JSON.stringify(unit)} in ${duration}`;
  }
  return undefined;
}
