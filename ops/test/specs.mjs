import { statSync } from 'node:fs';

/**
 * The arguments for mocha. A folder stands for the test files in it; without a file, folder or pattern the whole suite
 * runs.
 * @param {readonly string[]} given
 * @returns {readonly string[]}
 * @throws Error for a path that does not exist
 */
export function mochaArguments(given) {
  const named = given.map((argument, index) => (isPath(argument, given[index - 1]) ? specOf(argument) : argument));
  return given.some((argument, index) => isPath(argument, given[index - 1])) ? named : ['test/**/*.test.ts', ...named];
}

/** Whether an argument names tests; the value of an option, such as the text after `--grep`, does not. */
function isPath(argument, before = '') {
  return !argument.startsWith('-') && !before.startsWith('-') && /^(\.\/)?test(\/|$)|\.ts$/.test(argument);
}

function specOf(path) {
  if (path.includes('*')) return path;
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new Error(`there is no test file or folder ${path}`);
  return found.isDirectory() ? `${path.replace(/\/$/, '')}/**/*.test.ts` : path;
}
