import { placementError } from "../model.ts";

/** "VCPU:1,MEMORY_MB:64" as pairs; 400 for what is none. */
export function resourcesOf(text: string): readonly (readonly [string, number])[] {
  if (text === "") return [];
  return text.split(",").map((part) => {
    const [name = "", amount = ""] = part.split(":");
    if (name !== "" && /^[1-9]\d*$/.test(amount)) return [name, Number(amount)] as const;
    const why = `Badly formed resources parameter. Expected resources query string parameter in form: ?resources=VCPU:2,MEMORY_MB:1024. Got: ${text}.`;
    throw placementError(400, why, "placement.query.bad_value");
  });
}
