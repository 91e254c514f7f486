import { invalid } from "../wire/error.ts";

/** Replicas that a hosted control plane may have. */
const MOST = 9;

/** The numbers of masters that Magnum accepts, up to what a hosted control plane can have. @throws MagnumError 400 */
export function requireMasters(count: number, hasLoadBalancer: boolean): void {
  const refuse = (why: string) => invalid(`master nodegroup size of ${count} is invalid, ${why}.`);
  if (count > 1 && !hasLoadBalancer) throw invalid("master_count must be 1 when master_lb_enabled is False");
  if (count % 2 === 0 || count < 1) throw refuse("size cannot be an even number");
  if (count > MOST) throw refuse(`size cannot be larger than ${MOST}`);
}
