import { runCommandLine } from "./command-line.ts";
import { program } from "./program.ts";

await runCommandLine(program);
