export function mochaArguments(given: readonly string[]): readonly string[];
