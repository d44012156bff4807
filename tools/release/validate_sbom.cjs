// The validator of CycloneDX's own library: node validate_sbom.cjs FILE. Status 1, and the findings, when the file does not follow the schema.
const {Validation, Spec} = require("@cyclonedx/cyclonedx-library");
const fs = require("fs");

const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot5);
validator.validate(fs.readFileSync(process.argv[2], "utf8")).then(
  (findings) => {
    if (findings !== null) {
      console.log(JSON.stringify(findings, null, 1));
      process.exit(1);
    }
    console.log(`${process.argv[2]}: valid CycloneDX ${Spec.Version.v1dot5}`);
  },
  (error) => {
    console.log(String(error));
    process.exit(1);
  },
);
