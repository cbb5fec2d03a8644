// The commit-msg hook: the subject has at most 72 characters and no period at its end, an empty line follows it, and
// the lines of the body have at most 100 characters.
import { readFileSync } from 'node:fs';

const MAX_SUBJECT = 72;
const MAX_BODY = 100;

const message = readFileSync(process.argv[2], 'utf8').split(/^# -+ >8 -+$/m)[0];
const lines = message.split('\n').filter((line) => !line.startsWith('#'));
const [subject = '', second = ''] = lines;
// Git writes these subjects itself.
if (!/^(Merge|Revert|fixup!|squash!) /.test(subject)) {
  if (subject.length > MAX_SUBJECT)
    fail(`the subject has ${subject.length} characters, at most ${MAX_SUBJECT} are allowed`);
  if (subject.endsWith('.')) fail('the subject ends with a period');
  if (second !== '') fail('the second line is not empty');
  const long = lines.slice(2).find((line) => line.length > MAX_BODY && !line.includes('://'));
  if (long) fail(`a line of the body has more than ${MAX_BODY} characters: ${long.slice(0, 40)}…`);
}

function fail(reason) {
  console.error(`commit-msg: ${reason} (git commit --no-verify skips this check)`);
  process.exit(1);
}
