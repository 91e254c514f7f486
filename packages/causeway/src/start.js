#!/usr/bin/env -S node --max-semi-space-size=4
/* The causeway command: main.ts, from the bundle of the install where that is of these sources. */
import { bundled, keepCompiled } from "./bundled.js";

keepCompiled(process.env);
await import(bundled("main") ?? "./main.ts");
