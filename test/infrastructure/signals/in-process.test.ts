import { openInProcessSignals } from '../../../infrastructure/signals/in-process.ts';
import { signalsContract } from '../../contract/signals.ts';

describe('in-process signals', () => {
  signalsContract(() => {
    const signals = openInProcessSignals();
    return Promise.resolve({ here: signals, there: signals, close: () => signals.close() });
  });
});
