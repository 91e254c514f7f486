import { Option } from "@commander-js/extra-typings";

/** How a result is written: for people, or for programs. */
export type OutputFormat = "table" | "json" | "yaml";

/** `-o table|json|yaml`. */
export function outputOption(text = "output format") {
  return new Option("-o, --output <format>", text)
    .choices(["table", "json", "yaml"] as const)
    .default("table" as const);
}
