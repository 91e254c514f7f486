import { InvalidArgumentError } from "@commander-js/extra-typings";
import { parseCidr } from "@causeway/foundation";

/** A list of CIDRs, separated by commas. */
export function cidrs(text: string): readonly string[] {
  const all = text.split(",").map((each) => each.trim());
  const wrong = all.find((each) => parseCidr(each) === undefined);
  if (wrong !== undefined)
    throw new InvalidArgumentError(`${JSON.stringify(wrong)} is not a CIDR, such as 10.6.0.0/16`);
  return all;
}
