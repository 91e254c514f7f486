import { programFlags, type FlaggedProgram, type FlagSettings, type HostedControlPlane } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";

/** As in spec.flags of a HostedControlPlane. */
export type ControlPlaneFlags = NonNullable<HostedControlPlane["spec"]["flags"]>;

/**
 * Settings of a tenant as flags of the program's command line, in the order of their names. The schema has refused what
 * is not in the table of flags already; it is checked again here, since these programs are the operator's.
 *
 * @throws CausewayError FLAG_NOT_ALLOWED
 */
export function flagArgs(program: FlaggedProgram, flags: ControlPlaneFlags | undefined): readonly string[] {
  const settings: FlagSettings = flags?.[program] ?? {};
  return Object.entries(settings)
    .map(([field, value]) => {
      const known = programFlags[program].find((each) => each.field === field);
      const text = known?.values.write(value);
      if (known !== undefined && text !== undefined) return `--${known.flag}=${text}`;
      const fields = programFlags[program].map((each) => each.field).join(", ");
      const hint =
        known === undefined ? `Known fields: ${fields}.` : `The value is ${known.values.words}; times are in seconds.`;
      throw new CausewayError("FLAG_NOT_ALLOWED", `spec.flags.${program}.${field.slice(0, 100)} is not allowed`, {
        hint,
      });
    })
    .sort();
}

/** The command line of a program: a tenant's flag takes the place of ours with the same name. */
export function withFlags(args: readonly string[], own: readonly string[]): string[] {
  const names = new Set(own.map((each) => nameOf(each)));
  return [...args.filter((each) => !names.has(nameOf(each))), ...own];
}

const nameOf = (arg: string): string => arg.split("=", 1)[0] ?? arg;
