import { Command } from "@commander-js/extra-typings";
import { logLevelOption } from "../../../options/logging.ts";

/** The flags of `causeway run barbican-kms`. */
export type BarbicanKmsFlags = ReturnType<ReturnType<typeof options>["opts"]>;

export function barbicanKmsCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway run barbican-kms --socketpath /var/lib/kms/kms.sock --cloud-config /etc/kubernetes/cloud.conf`,
    )
    .action(async (given) => (await import("./action.ts")).barbicanKms(given, signal));
}

function options() {
  return new Command("barbican-kms")
    .description("KMS v2 plugin whose keys are in Barbican, in place of barbican-kms-plugin and with its flags.")
    .requiredOption("--socketpath <path>", "socket for the API server")
    .requiredOption("--cloud-config <file>", "cloud.conf with [Global] and, in [KeyManager], key-id")
    .addOption(logLevelOption("info"));
}
